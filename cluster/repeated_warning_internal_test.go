package cluster

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// The same error each second for an hour is some ten lines; another one, and one after a success, is told at once.
func TestRepeatedWarning(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lines := 0
		r := &repeatedWarning{message: "m", warn: func(string, ...any) { lines++ }}
		for range 3600 {
			r.note(errors.New("a"))
			r.note(errors.New("b"))
			time.Sleep(time.Second)
		}
		if lines < 10 || lines > 30 {
			t.Errorf("%d lines in an hour", lines)
		}
		lines = 0
		r.note(errors.New("c"))
		r.note(nil)
		r.note(errors.New("a"))
		r.note(errors.New("a"))
		if lines != 2 {
			t.Errorf("%d lines, not 2", lines)
		}
	})
}
