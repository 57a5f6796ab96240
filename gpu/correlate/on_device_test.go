package correlate_test

import (
	"fmt"
	"testing"

	"github.com/gnocco-db/gnocco/tests/devicetest"

	"github.com/gnocco-db/gnocco/correlate"
	gpucorrelate "github.com/gnocco-db/gnocco/gpu/correlate"
	"github.com/gnocco-db/gnocco/tests/correlatetest"
)

// TestOnDeviceCorrelator is what takes too long with the kernels on the host: many segments, chunks and tiles, with the
// kernels of every architecture that the device takes. The rules themselves are TestCorrelator's, there as here.
func TestOnDeviceCorrelator(t *testing.T) {
	device := devicetest.OnDevice(t)
	t.Log(device)
	for _, c := range []struct {
		shape         string
		columns, rows int
		options       correlate.Options
		selection     correlate.Selection
	}{
		{"mean of 1e8 deviations", 1000, 20_000, correlate.Options{}, correlate.Selection{}},
		{"random", 1500, 5000, correlate.Options{}, correlate.Selection{TopPerColumn: 10}},
		{"random", 1500, 5000, correlate.Options{}, correlate.Selection{Top: 1000}},
		{"steps", 300, 100_000, correlate.Options{}, correlate.Selection{}},
		{"heavy tails", 300, 200_000, correlate.Options{}, correlate.Selection{MinAbs: 0.1}},
		{"gaps", 400, 20_000, correlate.Options{}, correlate.Selection{}},
		{"late gaps", 300, 20_000, correlate.Options{MaxLag: 3}, correlate.Selection{}},
		{"shared rows far from the rest", 200, 10_000, correlate.Options{MaxLag: 1}, correlate.Selection{}},
	} {
		values := correlatetest.Shaped(c.shape).Values(1, c.columns, c.rows)
		for _, major := range architecturesOf(device) {
			// Selected coefficients have to differ by more than the bound: so no selection of shapes with nearly equal
			// columns.
			t.Run(fmt.Sprintf("sm_%d0/%s/%+v", major, c.shape, c.selection), func(t *testing.T) {
				correlator := newCorrelator(t, major, gpucorrelate.Options{ChunkBytes: 8 << 20})
				correlatetest.Compare(t, watched{correlator, t}, values, c.options, c.selection)
			})
		}
	}
}
