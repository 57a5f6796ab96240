package correlate

import (
	"github.com/gnocco-db/gnocco/correlate"
	"github.com/gnocco-db/gnocco/gpu/device"
)

// engineCost is what an engine takes for correlations, in seconds.
type engineCost struct {
	start   float64 // of any work
	value   float64 // a value of a column: copied, centred, scaled
	product float64 // a row of a pair, at a lag
	pair    float64 // a pair at a lag: its coefficient, and the search for the strongest
}

func (c *engineCost) of(columns, rows, lags float64) float64 {
	pairs := columns * columns / 2 * lags
	return c.start + columns*rows*c.value + pairs*(rows*c.product+c.pair)
}

// Costs as measured through the API's path (gnocco-bench correlate --choices): of the CPU for one worker of 16, of a
// device for an H200.
var (
	cpuCost    = engineCost{start: 0, value: 4e-9, product: 1 / 5.5e9, pair: 30e-9}
	deviceCost = engineCost{start: 0.02, value: 4.5e-9, product: 1 / 1.3e13, pair: 1e-9}
)

const (
	openSeconds = 0.45   // opening a device, unless it is the first, which the process may have open for other work
	h200Rate    = 1.3e13 // products a second at the costs above
)

// rateOf is the products a second that a device reaches: float64, on tensor cores where it has them.
func rateOf(p *device.Properties) float64 {
	each := 2.5e9 // of a multiprocessor: graphics cards have two units for float64
	switch {
	case p.Major == 9:
		each = h200Rate / 132
	case p.Major == 10 && p.Minor == 0, p.Major == 8 && p.Minor == 0:
		each = 6e10
	case p.Major == 7 && p.Minor == 0:
		each = 3e10
	}
	return each * float64(max(1, p.Multiprocessors))
}

// Wants reports whether a device that there might be could be faster than the CPU: the driver is not started for less.
func (o Options) Wants(source correlate.Source, what *correlate.Options) bool {
	fast := device.Properties{Major: 9, Multiprocessors: 1 << 20}
	return o.Choose(source, what, []device.Properties{fast}) > 0
}

// Choose returns how many of the devices, the first ones, are expected to be faster than fewer of them; 0 is the CPU.
func (o Options) Choose(source correlate.Source, what *correlate.Options, devices []device.Properties) int {
	o.EnsureDefaults()
	columns, lags := source.Columns(), 2*what.MaxLag+1
	if columns > maxColumns || columns < 2 {
		return 0
	}
	if o.Always {
		return len(devices)
	}
	rows := rowsOf(source)
	if rows == 0 { // text of an unknown length, which takes longer to read than to correlate so many columns
		const fewColumns = 640
		if columns*lags > fewColumns {
			return len(devices)
		}
		return 0
	}
	workers := float64(o.Workers)
	cpu := cpuCost
	cpu.value, cpu.product, cpu.pair = cpu.value/workers, cpu.product/workers, cpu.pair/workers
	best, fastest := 0, cpu.of(float64(columns), float64(rows), float64(lags))
	rate := 0.0
	for i := range devices {
		rate += rateOf(&devices[i])
		dev := deviceCost
		dev.start += openSeconds * float64(i) // one after the other
		if !o.Open {
			dev.start += openSeconds
		}
		dev.product *= h200Rate / rate
		dev.pair /= float64(i + 1)
		if took := dev.of(float64(columns), float64(rows), float64(lags)); took < fastest {
			best, fastest = i+1, took
		}
	}
	return best
}

// rowsOf returns how many rows a source has, or 0 if nobody knows.
func rowsOf(source correlate.Source) int64 {
	switch s := source.(type) {
	case correlate.Sized:
		return s.Rows()
	case correlate.Estimated:
		return s.EstimateRows()
	}
	return 0
}
