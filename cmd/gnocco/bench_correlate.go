package main

import (
	"github.com/spf13/cobra"

	"gnocco/internal/bench"
)

func newBenchCorrelate(flags *benchFlags) *cobra.Command {
	var what bench.CorrelateOptions
	csvBytes := byteSize(256 << 20)
	cmd := &cobra.Command{
		Use:   "correlate",
		Short: "Correlation of all pairs of columns, and parsing of CSV, without a server",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			what.CSVBytes = int(csvBytes)
			return bench.Correlate(cmd.Context(), flags.options, what)
		},
	}
	cmd.Flags().IntVar(&what.Columns, "columns", 256, "columns")
	cmd.Flags().IntVar(&what.Rows, "rows", 1_000_000, "rows, held in memory")
	cmd.Flags().Var(&csvBytes, "csv-bytes", "size of the text that is parsed")
	cmd.Flags().StringVar(&what.Python, "python", "", "Python interpreter with numpy, to be measured in the same run")
	return cmd
}
