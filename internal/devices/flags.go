package devices

import "github.com/spf13/pflag"

// Flags say how CUDA devices are found.
type Flags struct {
	Driver string
}

// Define adds the flags.
func (f *Flags) Define(flags *pflag.FlagSet) {
	flags.StringVar(&f.Driver, "cuda-driver", "",
		"path of the CUDA driver's library (default: the system's libcuda.so.1)")
}
