package device

import (
	"runtime"
	"testing"

	"github.com/gnocco-db/gnocco/tests/cutest"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

// engine opens the fake device on the test's own thread, in the place of an owner.
func engine(t *testing.T, options Options) *Engine {
	t.Helper()
	cutest.Open(t)
	runtime.LockOSThread()
	d, err := New(options)
	fatal.If(t, err)
	e, err := openEngine(d)
	fatal.If(t, err)
	t.Cleanup(func() {
		if err := e.close(); err != nil {
			t.Error(err)
		}
		runtime.UnlockOSThread()
	})
	return e
}

// memory returns a block and pinned memory of 4096 bytes for each direction.
func memory(t *testing.T, e *Engine) (block *Block, up, down *Pinned) {
	t.Helper()
	block, err := e.Memory.Get(4096)
	if err == nil {
		up, err = e.Uploads.Get(4096)
	}
	if err == nil {
		down, err = e.Downloads.Get(4096)
	}
	fatal.If(t, err)
	t.Cleanup(up.Release)
	t.Cleanup(down.Release)
	return block, up, down
}

// A stream that is ahead of the one that writes a block waits for it, on the device.
func TestLanesWaitForWhatOthersPublish(t *testing.T) {
	e := engine(t, Options{})
	writer, reader := e.streams[0], e.streams[1]
	block, up, down := memory(t, e)
	for i := range up.Bytes {
		up.Bytes[i] = byte(i)
	}
	fatal.If(t, writer.Upload(block, 0, up, 0, 4096), writer.Publish(block))
	fatal.If(t, reader.Use(block), reader.Download(down, 0, block, 0, 4096), reader.drain())
	for i, b := range down.Bytes {
		if b != byte(i) {
			t.Fatalf("byte %d is %d: read before it was written", i, b)
		}
	}
	if done, err := writer.finished(); err != nil || !done { // nothing was sealed
		t.Error(done, err)
	}
	// Streams wait again for a block that is published again.
	fatal.If(t, writer.Use(block), writer.Fill(block, 0, 77, 4096), writer.Publish(block))
	fatal.If(t, reader.Use(block), reader.Download(down, 0, block, 0, 4096), reader.drain())
	if down.Bytes[0] != 77 || down.Bytes[4095] != 77 {
		t.Errorf("read %d, %d", down.Bytes[0], down.Bytes[4095])
	}
	fatal.If(t, writer.drain())
	writer.release()
	reader.release()
	block.Release()
}

// A stream has the memory it uses to itself until it gives it back.
func TestLanesHoldWhatTheyUse(t *testing.T) {
	e := engine(t, Options{})
	block, _, _ := memory(t, e)
	fatal.If(t, e.streams[0].Publish(block))
	for _, stream := range e.streams[:2] {
		fatal.If(t, stream.Use(block))
	}
	block.Release() // the streams' now
	taken := func() bool {
		t.Helper()
		other, err := e.Memory.Get(4096)
		fatal.If(t, err)
		defer other.Release()
		return other != block
	}
	if !taken() {
		t.Error("handed out while two streams use it")
	}
	e.streams[0].release()
	if !taken() {
		t.Error("handed out while a stream uses it")
	}
	e.streams[1].release()
	if taken() {
		t.Error("not given back")
	}
}
