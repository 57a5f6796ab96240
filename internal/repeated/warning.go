package repeated

import "time"

// Warning logs what fails again and again: at once, and the same error after longer and longer times, with how
// often it came. One goroutine uses it.
type Warning struct {
	Warn    func(message string, args ...any)
	Message string

	said map[string]*saidError
}

type saidError struct {
	next  time.Time // when it is logged again
	wait  time.Duration
	times int
}

// Note logs an error, or that there is none any more: then the next one is new.
func (w *Warning) Note(err error) {
	if err == nil || w.said == nil || len(w.said) > 100 {
		w.said = make(map[string]*saidError)
	}
	if err == nil {
		return
	}
	s, now := w.said[err.Error()], time.Now()
	if s == nil {
		s = &saidError{wait: 10 * time.Second}
		w.said[err.Error()] = s
	}
	if s.times++; !now.Before(s.next) {
		w.Warn(w.Message, "error", err, "times", s.times)
		s.next, s.wait = now.Add(s.wait), min(2*s.wait, 10*time.Minute)
	}
}
