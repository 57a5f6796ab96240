// Package cutest gives tests a CUDA driver without a device: a library in C (driver/fake_driver.c says what it checks),
// built when tests run. Tests skip where there is no C compiler, or where package cu is built without the loader.
package cutest
