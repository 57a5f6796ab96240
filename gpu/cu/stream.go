package cu

import (
	"fmt"
	"unsafe"
)

// Stream is a queue of work for the device: in order within a stream, in any order between streams. The zero value is
// the default stream, which waits for all streams but those made NonBlocking.
type Stream struct{ handle uintptr }

// StreamFlags say whether the default stream waits for a stream.
type StreamFlags uint32

// NonBlocking is a stream that does not wait for the default stream, nor the other way round.
const NonBlocking StreamFlags = 1

// MakeStream makes a stream in the current context.
func MakeStream(flags StreamFlags) (Stream, error) {
	var stream Stream
	err := callGo("cuStreamCreate", uintptr(unsafe.Pointer(&stream.handle)), uintptr(flags))
	return stream, err
}

// Destroy ends the stream once its work is done, without waiting for that.
func (s Stream) Destroy() error { return call("cuStreamDestroy_v2", s.handle) }

// Synchronize waits for all work on the stream.
func (s Stream) Synchronize() error { return call("cuStreamSynchronize", s.handle) }

// Wait makes what comes on the stream from now on wait for the event, on the device. An event that was never recorded
// is not waited for.
func (s Stream) Wait(event Event) error { return call("cuStreamWaitEvent", s.handle, event.handle, 0) }

// Event is a mark put on a stream, which others can wait for.
type Event struct{ handle uintptr }

// EventFlags say what an event is for.
type EventFlags uint32

const (
	DefaultEvent  EventFlags = 0
	DisableTiming EventFlags = 2 // cheaper; no Elapsed
)

// MakeEvent makes an event in the current context.
func MakeEvent(flags EventFlags) (Event, error) {
	var event Event
	err := callGo("cuEventCreate", uintptr(unsafe.Pointer(&event.handle)), uintptr(flags))
	return event, err
}

// DestroyEvent ends an event.
func DestroyEvent(event Event) error { return call("cuEventDestroy_v2", event.handle) }

// Record marks the end of the work on the stream now. A record before it no longer counts.
func (e Event) Record(stream Stream) error { return call("cuEventRecord", e.handle, stream.handle) }

// Query returns nil if what was marked is done, or nothing was; NotReady if not.
func (e Event) Query() error {
	switch status := loaded().call("cuEventQuery", e.handle); status {
	case Success:
		return nil
	case NotReady:
		return NotReady // unwrapped: asked again and again
	default:
		return fmt.Errorf("cuEventQuery: %w", status)
	}
}

// Synchronize waits for the marked work.
func (e Event) Synchronize() error { return call("cuEventSynchronize", e.handle) }

// Elapsed returns the milliseconds from e to end, both done and recorded.
func (e Event) Elapsed(end Event) (float64, error) {
	var milliseconds float32
	err := callGo("cuEventElapsedTime", uintptr(unsafe.Pointer(&milliseconds)), e.handle, end.handle)
	return float64(milliseconds), err
}
