package correlate_test

import (
	"context"
	"slices"
	"testing"

	"github.com/gnocco-db/gnocco/correlate"
	gpucorrelate "github.com/gnocco-db/gnocco/gpu/correlate"
	"github.com/gnocco-db/gnocco/gpu/device"
)

// sized is a source of so many columns and rows, which nobody reads.
type sized struct{ columns, rows int }

func (s sized) Columns() int { return s.columns }
func (s sized) Rows() int64  { return int64(s.rows) }
func (sized) Read(context.Context, func([][]float64) error) error {
	panic("read")
}

// guessed is the same of a file.
type guessed struct{ sized }

func (g guessed) EstimateRows() int64 { return g.sized.Rows() }
func (guessed) Rows()                 {}

// The engine that was faster where both were measured, on 16 cores beside an H200.
func TestCorrelatorWants(t *testing.T) {
	h200 := []device.Properties{{Major: 9, Multiprocessors: 132}}
	f := func(want bool, source correlate.Source, lag int, o gpucorrelate.Options, devices []device.Properties) {
		t.Helper()
		o.Workers = 16
		got := o.Wants(source, &correlate.Options{MaxLag: lag})
		if devices != nil {
			got = o.Choose(source, &correlate.Options{MaxLag: lag}, devices) > 0
		}
		if got != want {
			t.Errorf("%+v, lag %d, %+v: got %v", source, lag, o, got)
		}
	}
	open := gpucorrelate.Options{Open: true}
	f(false, sized{200, 2_016}, 0, open, h200)
	f(false, sized{1_000, 2_016}, 0, open, h200)
	f(false, sized{1_000, 10_080}, 0, open, h200)
	f(true, sized{2_000, 2_016}, 0, open, h200)
	f(true, sized{2_000, 10_080}, 0, open, h200)
	f(true, sized{500, 2_016}, 12, open, h200)
	f(true, sized{2_000, 2_016}, 12, open, h200)
	f(true, sized{5_000, 2_016}, 0, open, h200)
	f(true, sized{10_000, 2_016}, 0, open, h200)
	f(true, sized{10_000, 10_080}, 0, open, h200)
	f(false, sized{50, 1_000}, 0, open, h200)
	f(false, guessed{sized{256, 100_000}}, 0, gpucorrelate.Options{}, h200)
	f(false, guessed{sized{700, 60_000}}, 0, gpucorrelate.Options{}, h200)
	f(false, guessed{sized{700, 60_000}}, 0, gpucorrelate.Options{}, nil)
	f(true, guessed{sized{5_000, 100_000}}, 0, gpucorrelate.Options{}, h200)
	// A graphics card has few units for float64.
	f(false, sized{2_000, 10_080}, 0, open, []device.Properties{{Major: 8, Minor: 6, Multiprocessors: 28}})
	f(false, sized{1 << 17, 10_080}, 0, open, h200) // more than a device takes
	f(true, sized{2, 2}, 0, gpucorrelate.Options{Always: true}, h200)
}

// Another device takes 0.45 s to open, and each has all rows.
func TestCorrelatorChoosesFewDevices(t *testing.T) {
	h200 := device.Properties{Major: 9, Multiprocessors: 132}
	f := func(want int, source correlate.Source, lag, found int) {
		t.Helper()
		o := gpucorrelate.Options{Workers: 16, Open: true}
		got := o.Choose(source, &correlate.Options{MaxLag: lag}, slices.Repeat([]device.Properties{h200}, found))
		if got != want {
			t.Errorf("%+v, lag %d: %d of %d devices", source, lag, got, found)
		}
	}
	f(0, sized{1_000, 2_016}, 0, 2)
	f(1, sized{2_000, 10_080}, 0, 2)
	f(1, sized{10_000, 2_016}, 0, 2)
	f(1, sized{10_000, 10_080}, 0, 4)
	f(2, sized{30_000, 50_000}, 0, 2)
	f(4, sized{10_000, 50_000}, 100, 4)
	f(0, sized{10_000, 2_016}, 0, 0)
}
