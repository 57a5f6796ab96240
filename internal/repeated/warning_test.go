package repeated_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gnocco-db/gnocco/internal/repeated"
)

// An error that repeats every second for an hour is logged about ten times. A different error, or the first one after a
// success, is logged at once.
func TestRepeatedWarning(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lines := 0
		r := &repeated.Warning{Message: "m", Warn: func(string, ...any) { lines++ }}
		for range 3600 {
			r.Note(errors.New("a"))
			r.Note(errors.New("b"))
			time.Sleep(time.Second)
		}
		if lines < 10 || lines > 30 {
			t.Errorf("%d lines in an hour", lines)
		}
		lines = 0
		r.Note(errors.New("c"))
		r.Note(nil)
		r.Note(errors.New("a"))
		r.Note(errors.New("a"))
		if lines != 2 {
			t.Errorf("%d lines, not 2", lines)
		}
	})
}
