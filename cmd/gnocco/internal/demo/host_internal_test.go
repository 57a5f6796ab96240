package demo

import (
	"testing"
	"time"

	"github.com/gnocco-db/gnocco/tests/fatal"
)

// The figures that any machine has are there at the second reading, and plausible.
func TestHost(t *testing.T) {
	var h host
	first, err := h.read()
	fatal.If(t, err)
	if _, ok := first["cpu0.percent"]; ok {
		t.Error("a share of a core's time from one reading")
	}
	time.Sleep(50 * time.Millisecond) // some ticks of the clock
	second, err := h.read()
	fatal.If(t, err)
	for name, most := range map[string]float64{"cpu0.percent": 100, "load.1min": 1e6, "memory.used.bytes": 1 << 50,
		"memory.available.bytes": 1 << 50, "mount.root.used.bytes": 1 << 60, "network.lo.received.bytes": 1 << 62} {
		if v, ok := second[name]; !ok || v < 0 || v > most {
			t.Errorf("%s: %v, %v", name, v, ok)
		}
	}
}
