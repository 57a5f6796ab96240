package main

import (
	"github.com/gnocco-db/gnocco/bench/device"
	"github.com/gnocco-db/gnocco/cmd/shared/bytesize"
	"github.com/gnocco-db/gnocco/cmd/shared/devices"

	"github.com/spf13/cobra"
)

func newGPU(flags *commonFlags) *cobra.Command {
	var what device.Options
	var driver devices.Flags
	var bigSum bytesize.Size
	cmd := &cobra.Command{
		Use:   "gpu",
		Short: "Measure resampling on CUDA devices, beside the CPU and simpler kernels",
		Long: `Measure resampling on CUDA devices, without a server. Parts:

  sum       one sum of all values: by an atomic addition each, by 64 in a row, coalesced, by our
            kernel, and on the CPU
  ladder    a sum of every few values: v1 (atomics), v2 (blocks), v3 (shared memory), v4 (v3 on
            several streams), uncoalesced, our kernel, and the CPU with one core and with all
  resident  our kernels alone: seven aggregates and percentiles, of one granularity and of nine
  blog      6*1024*1024 measures of 5 s, resampled to 35 s, six aggregates
  host      from host memory (Go's, and pinned) to host memory, beside the CPU; and the choices of
            the cost model
  dynamic   dynamic aggregates (median across series, resample) and resample= of one series, from
            series in memory to the columns of the answer, beside the CPU; and the model's choices
  stream    four times the device's memory budget, from pinned memory to pinned memory
  soak      many batches; growing memory is an error
  cards     the measures of resident, on one device and on all together

The device's clock measures ms-kernel, ms-up and ms-down (copies); the host's clock measures
ms-end-to-end, from pinned memory to pinned memory. %-of-copy is the share of the speed of a copy
on the device, counting what must be read and written once; %-of-PCIe is the share of the speed of
a copy to the device. x-cpu-all is how many times as fast as all cores.
The command fails without a device, and ends when a result is wrong.`,
		Example: `  gnocco-bench gpu
  gnocco-bench gpu --only resident --measures 125000000
  gnocco-bench gpu --only host --host-sizes 1000000 --chunks 65536,131072,262144 --streams 4
  gnocco-bench gpu --only soak --soak-batches 100000`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			what.Driver, what.BigSumBytes = driver.Driver, int64(bigSum)
			return device.Run(cmd.Context(), flags.options.Run, what)
		},
	}
	driver.Define(cmd.Flags())
	cmd.Flags().StringSliceVar(&what.Only, "only", nil, "parts to measure (default: all)")
	cmd.Flags().IntVar(&what.Values, "values", 64<<20, "values of the parts sum and ladder")
	cmd.Flags().IntVar(&what.Group, "group", 6, "values per group of the part ladder")
	cmd.Flags().Var(&bigSum, "big-sum", "size of one more sum, of data that is made on the device")
	cmd.Flags().IntVar(&what.Measures, "measures", 10_000_000,
		"measures of the parts resident, stream and cards; values of dynamic")
	cmd.Flags().IntSliceVar(&what.HostSizes, "host-sizes", []int{10_000, 100_000, 1_000_000, 10_000_000},
		"measures per batch of the part host; values of dynamic")
	cmd.Flags().IntSliceVar(&what.Chunks, "chunks", nil,
		"measures that go to the device together, sizes to compare (default as the resampler chooses)")
	cmd.Flags().IntVar(&what.Streams, "streams", 0, "chunks under way on a device (default as it chooses)")
	cmd.Flags().IntVar(&what.SoakBatches, "soak-batches", 10_000, "batches of the part soak")
	cmd.Flags().IntVar(&what.Rounds, "rounds", 7, "how often each figure is measured; the median counts")
	return cmd
}
