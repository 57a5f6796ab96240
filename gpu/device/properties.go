package device

import (
	"errors"
	"fmt"

	"github.com/gnocco-db/gnocco/gpu/cu"
)

// Properties of a device.
type Properties struct {
	Ordinal             int
	Name                string
	Major, Minor        int // compute capability: 9, 0 for sm_90
	MemoryBytes         int64
	Multiprocessors     int
	L2Bytes             int
	SharedBytesPerBlock int // dynamic shared memory that a kernel can ask for
	DriverVersion       int // of the API: 13000 for 13.0
}

// String is a line for people: name, architecture, memory, driver.
func (p Properties) String() string {
	return fmt.Sprintf("%s, sm_%d%d, %.1f GiB, CUDA %d.%d", p.Name, p.Major, p.Minor, float64(p.MemoryBytes)/(1<<30),
		p.DriverVersion/1000, p.DriverVersion%1000/10)
}

// Find returns the properties of all devices. It starts the driver but takes no memory of a device. ErrUnavailable if
// there is none.
func Find(driver string) ([]Properties, error) {
	if err := cu.Open(cu.Options{Library: driver}); err != nil {
		return nil, fmt.Errorf("gpu: %w", err)
	}
	count, err := cu.NumDevices()
	if err != nil {
		return nil, fmt.Errorf("gpu: %w", err)
	}
	all := make([]Properties, count)
	for i := range all {
		if _, all[i], err = find(i); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// find returns a device of an open driver.
func find(ordinal int) (cu.Device, Properties, error) {
	device, err := cu.GetDevice(ordinal)
	if err != nil {
		return device, Properties{}, fmt.Errorf("gpu: %w: device %d: %w", ErrUnavailable, ordinal, err)
	}
	p := Properties{Ordinal: ordinal}
	var errs [5]error
	p.DriverVersion, errs[0] = cu.Version()
	p.Name, errs[1] = device.Name()
	p.MemoryBytes, errs[2] = device.TotalMem()
	p.Major, p.Minor, errs[3] = device.ComputeCapability()
	values, err := device.Attributes(cu.MultiprocessorCount, cu.L2CacheSize, cu.MaxSharedMemoryPerBlockOpt)
	errs[4] = err
	if err := errors.Join(errs[:]...); err != nil {
		return device, Properties{}, fmt.Errorf("gpu: device %d: %w", ordinal, err)
	}
	p.Multiprocessors, p.L2Bytes, p.SharedBytesPerBlock = values[0], values[1], values[2]
	return device, p, nil
}
