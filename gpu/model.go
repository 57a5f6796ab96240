package gpu

import "gnocco/carbonara"

// Model tells what a batch costs on the CPU and on a device, in nanoseconds.
type Model struct {
	CPUBatch      float64 // a batch of no measures
	CPUMeasure    float64 // a measure at one granularity
	CPUOrder      float64 // more for it if there are percentiles
	CPUPacked     float64 // more for a measure that is packed
	DeviceBatch   float64
	DeviceMeasure float64
	DeviceOrder   float64
	DevicePacked  float64 // below 0: fewer bytes go to the device
}

// wantsDevice tells whether a device is expected to be faster.
func (r *Resampler) wantsDevice(batch *carbonara.Batch) bool {
	if len(r.devices) == 0 {
		return false
	}
	if r.options.Always {
		return true
	}
	m := r.model.Load()
	if m == nil {
		return false
	}
	cpu, device := m.Estimate(batch)
	return device < cpu
}

// Estimate returns what the batch is expected to cost on the CPU and on a device.
func (m *Model) Estimate(batch *carbonara.Batch) (cpu, device float64) {
	cpu, device = m.CPUBatch, m.DeviceBatch
	for i := range batch.Series {
		s := &batch.Series[i]
		n := float64(s.Len())
		work := n * float64(len(s.Plan.Granularities))
		cpu += work * m.CPUMeasure
		device += work * m.DeviceMeasure
		if s.Packed != nil {
			cpu += n * m.CPUPacked
			device += n * m.DevicePacked
		}
		if s.Plan.HasPercentiles() {
			cpu += work * m.CPUOrder
			device += work * m.DeviceOrder
		}
	}
	return cpu, device
}

// SetModel makes r choose by m from now on. Without a model everything is done on the CPU.
func (r *Resampler) SetModel(m Model) { r.model.Store(&m) }
