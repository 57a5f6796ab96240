package cu

import "unsafe"

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
