package ingest

import (
	"testing"
	"time"
)

// A protocol's own bound holds unless that of all measures is nearer.
func TestMaxFuture(t *testing.T) {
	f := func(all, protocol, want time.Duration) {
		t.Helper()
		i := new(Ingester)
		i.MaxFuture = all
		if got := i.maxFuture(&Protocol{MaxFuture: protocol}); got != want {
			t.Errorf("of %v for all and %v for the protocol: %v, want %v", all, protocol, got, want)
		}
	}
	f(0, 0, 0)
	f(0, time.Hour, time.Hour)
	f(time.Minute, time.Hour, time.Minute)
	f(time.Hour, time.Minute, time.Minute)
	f(time.Hour, 0, time.Hour)
}
