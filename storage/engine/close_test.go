package engine_test

import (
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"gnocco/storage/engine"
)

// A heartbeat that records while a store is closed, and a kill right after: the logs that went are not missed.
func TestRecordWhileClosing(t *testing.T) {
	memory := vfs.NewMem()
	var recorder *engine.Recorder
	recording := false
	fs := errorfs.Wrap(memory, errorfs.InjectorFunc(func(op errorfs.Op) error {
		if op.Kind == errorfs.OpList && recording {
			recording = false
			return recorder.Record()
		}
		return nil
	}))
	recorder = engine.NewRecorder(fs)
	db, err := engine.Open("e1", engine.Options{FS: recorder})
	if err != nil {
		t.Fatal(err)
	}
	put(t, db, 0, 2000) // more than a closed store may keep in its log
	recording = true
	if err := engine.Close(db, recorder, "e1"); err != nil || recording {
		t.Fatal(err, recording)
	}
	if doubts, err := engine.Check(clone(t, memory), "e1"); err != nil || len(doubts) > 0 {
		t.Error(doubts, err)
	}
}
