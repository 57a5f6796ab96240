package main

import (
	"github.com/gnocco-db/gnocco/bench/formats"

	"github.com/spf13/cobra"
)

func newArchive(flags *commonFlags) *cobra.Command {
	var what formats.ArchiveOptions
	cmd := &cobra.Command{
		Use:   "archive",
		Short: "Measure size and speed of the archive format, beside Gnocchi's, Gorilla's and zstd",
		Long: `Encode and decode groups of six aggregation methods (mean, min, max, sum, count, std), without a
server: generated series and, with --folder, those of CSV files (a header, then timestamp and
value; gaps are ignored). The formats are ours; Gnocchi's (16-bit distances and float64 by LZ4,
for each method); Prometheus' XOR chunks, after Gorilla, for each method; and float64 by zstd's
fastest level, for each method, without times.

B/group are the bytes of all six methods. encode-MB/s and decode-MB/s count the bytes of float64
of the columns that a format stores, per second on one core. The other figures are bytes per
group of each stored column.`,
		Example: `  gnocco-bench archive
  gnocco-bench archive --folder nab/data --each >archive.txt`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return formats.Archive(cmd.Context(), flags.options.Run, what)
		},
	}
	cmd.Flags().StringVar(&what.Folder, "folder", "", "also measure the CSV files in this folder and those below")
	cmd.Flags().IntVar(&what.Groups, "groups", 3600, "groups of generated series")
	cmd.Flags().IntSliceVar(&what.PerGroup, "per-group", []int{1, 12}, "measures per group")
	cmd.Flags().BoolVar(&what.Each, "each", false, "also print a result for each file")
	cmd.Flags().DurationVar(&what.For, "for", 0, "how long each case is measured (default 1s)")
	return cmd
}
