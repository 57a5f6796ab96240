package cu

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
