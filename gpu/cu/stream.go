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
