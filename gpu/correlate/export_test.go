package correlate

import "github.com/gnocco-db/gnocco/gpu/device"

// Architecture makes the correlator use kernels for compute capabilities up to this major number.
func (c *Correlator) Architecture(major int) { c.most = major }

// Architecture is the major number of the compute capability whose kernels a device takes.
func Architecture(p device.Properties, most int) int { return imageFor(&p, most).major }
