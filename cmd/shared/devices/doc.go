// Package devices holds the flags that choose CUDA devices, and opens the chosen ones.
package devices
