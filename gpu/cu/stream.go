package cu

import "unsafe"

// Stream is a queue of work for the device: in order within a stream, in any order between streams. The zero value is
// the default stream, which waits for all streams but those made NonBlocking.
type Stream struct{ handle uintptr }

// StreamFlags say whether the default stream waits for a stream.
type StreamFlags uint32

const (
	DefaultStream StreamFlags = 0
	NonBlocking   StreamFlags = 1 // neither waits for the other
)

// MakeStream makes a stream in the current context.
func MakeStream(flags StreamFlags) (Stream, error) {
	var stream Stream
	err := check("cuStreamCreate", call2(loaded().streamCreate,
		uintptr(unsafe.Pointer(&stream.handle)), uintptr(flags)))
	return stream, err
}

// Destroy ends the stream once its work is done, without waiting for that.
func (s Stream) Destroy() error {
	return check("cuStreamDestroy", call(loaded().streamDestroy, s.handle))
}

// Synchronize waits for all work on the stream.
func (s Stream) Synchronize() error {
	return check("cuStreamSynchronize", call(loaded().streamSynchronize, s.handle))
}

// Wait makes what comes on the stream from now on wait for the event, on the device. An event that was never recorded
// is not waited for.
func (s Stream) Wait(event Event) error {
	return check("cuStreamWaitEvent", call3(loaded().streamWaitEvent, s.handle, event.handle, 0))
}

// Event is a mark put on a stream, which others can wait for.
type Event struct{ handle uintptr }

// EventFlags say what an event is for.
type EventFlags uint32

const (
	DefaultEvent      EventFlags = 0
	BlockingSyncEvent EventFlags = 1 // Synchronize frees the core
	DisableTiming     EventFlags = 2 // cheaper; no Elapsed
)

// MakeEvent makes an event in the current context.
func MakeEvent(flags EventFlags) (Event, error) {
	var event Event
	err := check("cuEventCreate", call2(loaded().eventCreate, uintptr(unsafe.Pointer(&event.handle)), uintptr(flags)))
	return event, err
}

// DestroyEvent ends an event.
func DestroyEvent(event Event) error {
	return check("cuEventDestroy", call(loaded().eventDestroy, event.handle))
}

// Record marks the end of the work on the stream now. A record before it no longer counts.
func (e Event) Record(stream Stream) error {
	return check("cuEventRecord", call2(loaded().eventRecord, e.handle, stream.handle))
}

// Query returns nil if what was marked is done, or nothing was; NotReady if not.
func (e Event) Query() error {
	status := call(loaded().eventQuery, e.handle)
	if status == NotReady {
		return NotReady // unwrapped: asked again and again
	}
	return check("cuEventQuery", status)
}

// Synchronize waits for the marked work.
func (e Event) Synchronize() error {
	return check("cuEventSynchronize", call(loaded().eventSynchronize, e.handle))
}

// Elapsed returns the milliseconds from e to end, both done and recorded.
func (e Event) Elapsed(end Event) (float64, error) {
	var milliseconds float32
	err := check("cuEventElapsedTime",
		call3(loaded().eventElapsed, uintptr(unsafe.Pointer(&milliseconds)), e.handle, end.handle))
	return float64(milliseconds), err
}
