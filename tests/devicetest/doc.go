// Package devicetest is what tests of devices, of the resampler and of the correlator share: the kernels on the fake
// driver, the system's driver where a machine has a device, and a driver that goes wrong at any call.
package devicetest
