package cu

// DeviceAttribute is a property of a device, all of them integers.
type DeviceAttribute int32

// Sizes are in bytes, rates in kHz.
const (
	MaxThreadsPerBlock          DeviceAttribute = 1
	MaxSharedMemoryPerBlock     DeviceAttribute = 8 // without Function.SetAttribute
	WarpSize                    DeviceAttribute = 10
	MaxRegistersPerBlock        DeviceAttribute = 12
	ClockRate                   DeviceAttribute = 13
	MultiprocessorCount         DeviceAttribute = 16
	PCIBusID                    DeviceAttribute = 33
	PCIDeviceID                 DeviceAttribute = 34
	MemoryClockRate             DeviceAttribute = 36
	GlobalMemoryBusWidth        DeviceAttribute = 37 // bits
	L2CacheSize                 DeviceAttribute = 38
	AsyncEngineCount            DeviceAttribute = 40 // 2 or more: both directions at once beside a kernel
	UnifiedAddressing           DeviceAttribute = 41 // 1: kernels reach pinned host memory by its host address
	PCIDomainID                 DeviceAttribute = 50
	ComputeCapabilityMajor      DeviceAttribute = 75
	ComputeCapabilityMinor      DeviceAttribute = 76
	MaxSharedMemoryPerSM        DeviceAttribute = 81
	MaxSharedMemoryPerBlockOpt  DeviceAttribute = 97 // with Function.SetAttribute
	MaxThreadsPerMultiProcessor DeviceAttribute = 39
)
