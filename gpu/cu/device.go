package cu

import "unsafe"

// Device is a device's ordinal, as the driver counts them.
type Device int32

// NumDevices returns how many devices the driver sees.
func NumDevices() (int, error) {
	var count int32
	err := callGo("cuDeviceGetCount", uintptr(unsafe.Pointer(&count)))
	return int(count), err
}

// GetDevice returns the device of an ordinal below NumDevices.
func GetDevice(ordinal int) (Device, error) {
	var device int32
	err := callGo("cuDeviceGet", uintptr(unsafe.Pointer(&device)), uintptr(ordinal))
	return Device(device), err
}

// Name returns the product's name.
func (d Device) Name() (string, error) {
	var name [256]byte
	err := callGo("cuDeviceGetName", uintptr(unsafe.Pointer(&name)), uintptr(len(name)), uintptr(d))
	return textOf(name[:]), err
}

// Attribute returns one of the device's properties.
func (d Device) Attribute(attribute DeviceAttribute) (int, error) {
	var value int32
	err := callGo("cuDeviceGetAttribute", uintptr(unsafe.Pointer(&value)), uintptr(attribute), uintptr(d))
	return int(value), err
}

// Attributes returns several properties, in their order.
func (d Device) Attributes(attributes ...DeviceAttribute) ([]int, error) {
	values := make([]int, len(attributes))
	for i, attribute := range attributes {
		var err error
		if values[i], err = d.Attribute(attribute); err != nil {
			return nil, err
		}
	}
	return values, nil
}

// TotalMem returns the bytes of the device's memory.
func (d Device) TotalMem() (int64, error) {
	var bytes uint64
	err := callGo("cuDeviceTotalMem_v2", uintptr(unsafe.Pointer(&bytes)), uintptr(d))
	return int64(bytes), err
}

// ComputeCapability returns the version of the device's instruction set: 9, 0 for sm_90.
func (d Device) ComputeCapability() (major, minor int, err error) {
	values, err := d.Attributes(ComputeCapabilityMajor, ComputeCapabilityMinor)
	if err != nil {
		return 0, 0, err
	}
	return values[0], values[1], nil
}

// RetainPrimaryCtx returns the context that all users of the device in this process share. Each call is undone by one
// of ReleasePrimaryCtx. It is not yet current anywhere.
func (d Device) RetainPrimaryCtx() (CUContext, error) {
	var ctx CUContext
	err := callGo("cuDevicePrimaryCtxRetain", uintptr(unsafe.Pointer(&ctx.handle)), uintptr(d))
	return ctx, err
}

// ReleasePrimaryCtx undoes a RetainPrimaryCtx. The last one ends the context and everything made in it.
func (d Device) ReleasePrimaryCtx() error { return call("cuDevicePrimaryCtxRelease_v2", uintptr(d)) }

// CUContext is what a process holds of a device; it is current on a thread or not.
type CUContext struct{ handle uintptr }

// SetCurrentContext makes a context the one of the calling thread; the zero CUContext leaves it without.
func SetCurrentContext(ctx CUContext) error { return call("cuCtxSetCurrent", ctx.handle) }

// DeviceAttribute is a property of a device, all of them integers.
type DeviceAttribute int32

// The properties that code asks for. Sizes are in bytes.
const (
	MultiprocessorCount        DeviceAttribute = 16
	L2CacheSize                DeviceAttribute = 38
	ComputeCapabilityMajor     DeviceAttribute = 75
	ComputeCapabilityMinor     DeviceAttribute = 76
	MaxSharedMemoryPerBlockOpt DeviceAttribute = 97 // with Function.SetAttribute
)
