package main

import (
	"log/slog"

	"github.com/spf13/cobra"

	"gnocco/gpu"
	"gnocco/internal/bench"
)

func newBenchCorrelate(flags *benchFlags) *cobra.Command {
	var what bench.CorrelateOptions
	var devices gpuFlags
	choice, csvBytes := "auto", byteSize(256<<20)
	cmd := &cobra.Command{
		Use:   "correlate",
		Short: "Correlation of all pairs of columns, and parsing of CSV, without a server",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			what.CSVBytes = int(csvBytes)
			found, err := chooseDevices(choice, devices.driver, slog.New(slog.DiscardHandler))
			if err != nil {
				return err
			}
			if len(found) > 0 {
				// Columns are measured from pinned memory, too, all of them.
				if what.Device, err = gpu.NewDevice(gpu.Options{Ordinal: found[0].Ordinal, Driver: devices.driver, PinnedBytes: 16 << 30}); err != nil {
					return err
				}
				defer what.Device.Close()
			}
			return bench.Correlate(cmd.Context(), flags.options, what)
		},
	}
	cmd.Flags().IntVar(&what.Columns, "columns", 256, "columns")
	cmd.Flags().IntVar(&what.Rows, "rows", 1_000_000, "rows, held in memory")
	cmd.Flags().Var(&csvBytes, "csv-bytes", "size of the text that is parsed")
	cmd.Flags().StringVar(&what.Python, "python", "", "Python interpreter with numpy, to be measured in the same run")
	cmd.Flags().StringVar(&choice, "gpu", choice, "CUDA device to measure, too: auto or on (the first), off, or its number")
	cmd.Flags().IntVar(&what.Wide.Columns, "wide-columns", 10_000, "columns of which a device finds the strongest pairs; 0: not measured")
	cmd.Flags().IntVar(&what.Wide.Rows, "wide-rows", 8640, "their rows")
	cmd.Flags().IntVar(&what.Wide.Top, "wide-top", 100, "pairs found of every column")
	devices.define(cmd.Flags())
	return cmd
}
