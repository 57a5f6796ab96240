package incoming_test

import (
	"errors"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/storage/incoming"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

// While its clock fails its check, a store refuses requests. Acknowledgements go on.
func TestWrongClockRefuses(t *testing.T) {
	wrong := errors.New("the clock has jumped")
	var fails error
	clock := incoming.Clock{ID: uuid.New(), Check: func() error { return fails },
		Now: func() int64 { return time.Now().UnixNano() }}
	s := open(t, incoming.Options{Clock: clock})
	defer closeStore(t, s)
	send := func() error {
		all, _ := blocks(rand.New(rand.NewPCG(5, 5)), 10, 0)
		return s.Append(t.Context(), all)
	}
	fatal.If(t, send())
	fails = wrong
	if err := send(); !errors.Is(err, wrong) {
		t.Errorf("accepted with a wrong clock: %v", err)
	}
	if b := s.Backlog(); b.Measures != 10 {
		t.Errorf("%d measures wait, of 10 that were accepted", b.Measures)
	}
	fatal.If(t, s.Acknowledge(0, s.Last(0)))
	for empty := false; !empty; {
		var err error
		if empty, err = s.Empty(); err != nil {
			t.Fatal(err)
		}
	}
	fails = nil
	if err := send(); err != nil {
		t.Error(err)
	}
}
