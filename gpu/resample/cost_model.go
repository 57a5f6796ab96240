package resample

import (
	"slices"
	"time"

	"github.com/gnocco-db/gnocco/carbonara"
)

// Model tells what a batch costs on the CPU and on a device.
type Model struct {
	CPU, Device Cost

	// Busy is the part of Device in which the device works. In the rest the host packs and unpacks.
	Busy float64
}

// Cost is the nanoseconds that an engine takes for a batch.
type Cost struct {
	Batch   float64 // of any batch
	Measure float64 // for a measure at one granularity
	Moments float64 // more for it if there are moments other than counts
	Order   float64 // more for it for each percentile
	Packed  float64 // more for a measure that is packed; below 0 where fewer bytes go to the device

	// LongMoments and LongOrder are added for each measure of the longest group, which few threads work on: with
	// moments, and for each percentile.
	LongMoments, LongOrder float64
}

// load is what a batch asks of an engine: how often each of Cost's numbers counts.
type load struct {
	measures, moments, order, packed, longMoments, longOrder float64

	needsCPU bool
}

// add adds measures, of whose groups at the plan's coarsest granularity the longest has so many.
func (l *load) add(plan *carbonara.Plan, measures, longest float64) {
	work := measures * float64(len(plan.Granularities))
	l.needsCPU = l.needsCPU || plan.NeedsCPU()
	l.measures += work
	if plan.HasMoments() {
		l.moments += work
		l.longMoments = max(l.longMoments, longest)
	}
	percentiles := float64(plan.Percentiles())
	l.order += work * percentiles
	l.longOrder = max(l.longOrder, longest*percentiles)
}

func (c *Cost) of(l *load) float64 {
	return c.Batch + l.measures*c.Measure + l.moments*c.Moments + l.order*c.Order + l.packed*c.Packed +
		l.longMoments*c.LongMoments + l.longOrder*c.LongOrder
}

// loadOf takes measures to be evenly spread over the time of their series.
func loadOf(batch *carbonara.Batch) (l load) {
	for i := range batch.Series {
		s := &batch.Series[i]
		if s.From == s.To {
			continue
		}
		measures, groups := float64(s.Len()), carbonara.Timestamp(1)
		if first, last, err := endsOf(batch, s); err == nil { // else the engine will say what is wrong
			width := carbonara.Timestamp(s.Plan.Coarsest())
			groups = carbonara.Timestamp(groupsBetween(first, last, width))
		}
		l.add(s.Plan, measures, max(1, measures/float64(groups)))
		if s.Packed != nil {
			l.packed += measures
		}
	}
	return l
}

// Estimate returns what the batch is expected to cost on the CPU and on a device.
func (m *Model) Estimate(batch *carbonara.Batch) (cpu, device float64) {
	l := loadOf(batch)
	return m.CPU.of(&l), m.Device.of(&l)
}

// timesToMake is how many times a device's cost a batch is worth that is made for the device's sake only.
const timesToMake = 2

// Accelerates implements carbonara.Accelerated. One batch is made at a time: to make one takes the host about as long
// as a median on the CPU, so that beside each other they are slower than there.
func (r *Resampler) Accelerates(plan *carbonara.Plan, measures, groups, cores int) bool {
	var l load
	l.add(plan, float64(measures), float64(measures)/float64(max(1, groups)))
	works := func(d *resamplerDevice) bool { return d.Err() == nil }
	if !r.wantsDevice(&l, timesToMake*float64(cores)) || !slices.ContainsFunc(r.devices, works) {
		return false
	}
	if r.options.Always {
		return true
	}
	now, before := time.Now(), r.making.Load()
	if before != nil && now.Before(*before) {
		return false
	}
	return r.making.CompareAndSwap(before, new(now.Add(time.Duration(r.model.Load().CPU.of(&l)/float64(cores)))))
}

// wantsDevice reports whether a device is expected to be that many times faster, once the batches before are done.
func (r *Resampler) wantsDevice(l *load, times float64) bool {
	if len(r.devices) == 0 || l.needsCPU {
		return false
	}
	if r.options.Always {
		return true
	}
	m := r.model.Load()
	wait := float64(r.queued.Load()) / float64(r.inUse())
	return m != nil && wait+times*m.Device.of(l) < m.CPU.of(l)
}

// enqueue adds the device's work on a batch to the queue. The function that it returns removes it.
func (r *Resampler) enqueue(l *load) (done func()) {
	m := r.model.Load()
	if m == nil {
		return func() {}
	}
	nanoseconds := int64(m.Busy * m.Device.of(l))
	r.queued.Add(nanoseconds)
	r.making.Store(nil)
	return func() { r.queued.Add(-nanoseconds) }
}

// SetModel makes r choose by m from now on. Without a model everything is done on the CPU.
func (r *Resampler) SetModel(m Model) {
	r.model.Store(&m)
	r.making.Store(nil)
}
