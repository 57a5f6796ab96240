package main

import (
	"errors"
	"log/slog"
	"os"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/spf13/cobra"

	"github.com/gnocco-db/gnocco/bench"
	"github.com/gnocco-db/gnocco/bench/correlation"
	"github.com/gnocco-db/gnocco/cmd/shared/bytesize"
	"github.com/gnocco-db/gnocco/cmd/shared/devices"
	"github.com/gnocco-db/gnocco/correlate"
	gpucorrelate "github.com/gnocco-db/gnocco/gpu/correlate"
	"github.com/gnocco-db/gnocco/gpu/device"
)

func newCorrelate(flags *commonFlags) *cobra.Command {
	var what correlation.Options
	var driver devices.Flags
	choice, csvBytes, choices := "auto", bytesize.Size(256<<20), false
	cmd := &cobra.Command{
		Use:   "correlate",
		Short: "Measure the correlation of all pairs of columns, and the parsing of CSV, without a server",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			what.CSVBytes = int(csvBytes)
			found, err := devices.Choose(choice, driver.Driver, slog.New(slog.DiscardHandler))
			if err != nil {
				return err
			}
			if len(found) > 0 {
				what.Device, err = device.New(device.Options{
					Ordinal: found[0].Ordinal, Driver: driver.Driver,
					PinnedBytes: 16 << 30, // all columns are also measured from pinned memory
					JobTimeout:  time.Minute,
				})
				if err != nil {
					return err
				}
				defer what.Device.Close()
			}
			if choices {
				self, _ := os.Executable()
				program := bench.BesideOrInPath(self, "gnocco-correlate")
				if program == "" {
					return errors.New("there is no gnocco-correlate, neither beside this program nor in PATH")
				}
				return correlation.Choices(cmd.Context(), flags.options.Run, correlation.ChoiceOptions{
					Device: what.Device, Driver: driver.Driver, Binary: program,
					Engine: func(choice string, registerer prometheus.Registerer) correlate.Engine {
						options := gpucorrelate.Options{Open: true, Registerer: registerer}
						return devices.NewCorrelator(choice, driver.Driver, options)
					},
				})
			}
			return correlation.Run(cmd.Context(), flags.options.Run, what)
		},
	}
	cmd.Flags().IntVar(&what.Columns, "columns", 256, "number of columns")
	cmd.Flags().IntVar(&what.Rows, "rows", 1_000_000, "number of rows, which are held in memory")
	cmd.Flags().Var(&csvBytes, "csv-bytes", "size of the CSV text that is parsed")
	cmd.Flags().BoolVar(&choices, "choices", false,
		"measure instead requests to the API and files of several sizes, with --gpu off, on and auto")
	cmd.Flags().StringVar(&what.Python, "python", "", "also measure numpy, with this Python interpreter")
	cmd.Flags().StringVar(&choice, "gpu", choice,
		"CUDA device that is measured as well: auto or on (the first one), off, or its number")
	cmd.Flags().IntVar(&what.Wide.Columns, "wide-columns", 10_000,
		"columns of the matrix of which a device finds the strongest pairs; 0: do not measure it")
	cmd.Flags().IntVar(&what.Wide.Rows, "wide-rows", 8640, "rows of that matrix")
	cmd.Flags().IntVar(&what.Wide.Top, "wide-top", 100, "strongest pairs to find for each of its columns")
	driver.Define(cmd.Flags())
	return cmd
}
