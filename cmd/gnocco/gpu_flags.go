package main

import "github.com/spf13/pflag"

// gpuFlags say how CUDA devices are found.
type gpuFlags struct {
	driver string
}

func (f *gpuFlags) define(flags *pflag.FlagSet) {
	flags.StringVar(&f.driver, "cuda-driver", "", "path of the CUDA driver's library (default: the system's libcuda.so.1)")
}
