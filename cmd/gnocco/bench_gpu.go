package main

import (
	"github.com/spf13/cobra"

	"gnocco/internal/bench"
)

func newBenchGPU(flags *benchFlags) *cobra.Command {
	var what bench.GPUOptions
	var devices gpuFlags
	var bigSum byteSize
	cmd := &cobra.Command{
		Use:   "gpu",
		Short: "Resampling on CUDA devices, beside the CPU and kernels that one may write first",
		Long: `Measure resampling on CUDA devices, without a server. Parts:

  sum       one sum of all values: an atomic addition each, 64 in a row, coalesced, ours; CPU
  ladder    a sum of every few values: v1 (atomics), v2 (blocks), v3 (shared memory), v4 (v3 on
            several streams), uncoalesced, ours; CPU with one core and all
  resident  kernels alone, seven aggregates and percentiles, one granularity and nine
  blog      6*1024*1024 measures of 5 s to 35 s, six aggregates
  host      from host memory, Go's and pinned, to host memory, beside the CPU; and what the
            cost model chooses; with --pieces the same with pieces of such sizes
  dynamic   dynamic aggregates (median across series, resample) and resample= of one series, from
            series in memory to the answer's columns, beside the CPU; and what the model chooses
  stream    four times the device's budget, from pinned memory to pinned memory
  soak      many batches; memory that grows is an error
  cards     resident measures, on one device and on all together

Figures: ms-kernel, ms-up and ms-down (copies) by the device's clock, ms-end-to-end from pinned
memory to pinned memory by the host's; %-of-copy is the share of what a copy on the device
reaches, counting what has to be read and written once; %-of-PCIe likewise of a copy to it;
x-cpu-all how many times as fast as all cores.
Without a device the command fails. Results that are wrong end it.`,
		Example: `  gnocco bench gpu
  gnocco bench gpu --only resident --measures 125000000
  gnocco bench gpu --only host --host-sizes 1000000 --pieces 65536,131072,262144 --lanes 4
  gnocco bench gpu --only soak --soak-batches 100000`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			what.Driver, what.BigSumBytes = devices.driver, int64(bigSum)
			return bench.GPU(cmd.Context(), flags.options, what)
		},
	}
	devices.define(cmd.Flags())
	cmd.Flags().StringSliceVar(&what.Only, "only", nil, "parts to measure (default all)")
	cmd.Flags().IntVar(&what.Values, "values", 64<<20, "values of the sums and the ladder")
	cmd.Flags().IntVar(&what.Group, "group", 6, "values in a group of the ladder")
	cmd.Flags().Var(&bigSum, "big-sum", "bytes of one more sum, of data that lies on the device")
	cmd.Flags().IntVar(&what.Measures, "measures", 10_000_000, "measures of resident and streamed batches; values of the table of dynamic")
	cmd.Flags().IntSliceVar(&what.HostSizes, "host-sizes", []int{10_000, 100_000, 1_000_000, 10_000_000}, "measures of batches from host memory; values of tables of dynamic")
	cmd.Flags().IntSliceVar(&what.Pieces, "pieces", nil, "measures that go to the device together, sizes to compare (default as the resampler chooses)")
	cmd.Flags().IntVar(&what.Lanes, "lanes", 0, "pieces under way on a device (default as it chooses)")
	cmd.Flags().IntVar(&what.SoakBatches, "soak-batches", 10_000, "batches of the soak")
	cmd.Flags().IntVar(&what.Rounds, "rounds", 7, "repeats of each figure, of which the median counts")
	return cmd
}
