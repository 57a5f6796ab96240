package correlate_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/gnocco-db/gnocco/tests/devicetest"

	"github.com/gnocco-db/gnocco/correlate"
	gpucorrelate "github.com/gnocco-db/gnocco/gpu/correlate"
	"github.com/gnocco-db/gnocco/gpu/device"
	"github.com/gnocco-db/gnocco/tests/correlatetest"
)

// If any call of the driver fails or hangs, the pairs are the CPU's, each handed out once.
func TestShimCorrelator(t *testing.T) {
	values := correlatetest.Shaped("random").Values(7, 5, 64)
	values[2][50] = math.NaN() // in the second chunk
	options := correlate.Options{}
	for _, selection := range []correlate.Selection{{}, {Top: 20}} {
		if selection.Top == 0 && testing.Short() {
			continue
		}
		t.Run(fmt.Sprintf("%+v", selection), func(t *testing.T) {
			want, _ := correlatetest.Pairs(t, correlate.CPU{}, values, options, selection)
			devicetest.EveryCall(t, func(t *testing.T, dev *device.Device) func() {
				c := gpucorrelate.New([]*device.Device{dev},
					gpucorrelate.Options{Always: true, ChunkBytes: 8 * 5 * 32, Workers: 2})
				got, _ := correlatetest.Pairs(t, c, values, options, selection)
				check := func() {
					if len(got) != len(want) {
						t.Fatalf("%d pairs, want %d", len(got), len(want))
					}
					for k, p := range got {
						if p.I != want[k].I || p.J != want[k].J || math.Abs(p.R-want[k].R) > correlatetest.Bound {
							t.Fatalf("got %+v, want %+v", p, want[k])
						}
					}
				}
				check()
				return check
			})
		})
	}
}
