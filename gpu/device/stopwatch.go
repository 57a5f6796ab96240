package device

import (
	"errors"
	"time"

	"github.com/gnocco-db/gnocco/gpu/cu"
)

// Stopwatch tells the time between points of a stream's work, by the device's clock. A job marks them in Start or
// Finish, and asks in a later Finish. The zero value is ready.
type Stopwatch struct{ marks []cu.Event }

// Mark marks the end of the work queued on the stream so far.
func (s *Stopwatch) Mark(stream *Stream) error {
	event, err := cu.MakeEvent(cu.DefaultEvent)
	if err != nil {
		return stream.wrap(err)
	}
	s.marks = append(s.marks, event)
	return stream.wrap(event.Record(stream.Handle))
}

// Times returns the times from each mark to the next, all of which are passed, and forgets the marks.
func (s *Stopwatch) Times() ([]time.Duration, error) {
	var times []time.Duration
	var errs []error
	for i, event := range s.marks {
		if i+1 < len(s.marks) {
			ms, err := event.Elapsed(s.marks[i+1])
			times, errs = append(times, time.Duration(ms*float64(time.Millisecond))), append(errs, err)
		}
	}
	for _, event := range s.marks {
		errs = append(errs, cu.DestroyEvent(event))
	}
	s.marks = nil
	return times, errors.Join(errs...)
}
