package main

import (
	"github.com/spf13/cobra"

	"gnocco/internal/bench"
)

func newBenchArchive(flags *benchFlags) *cobra.Command {
	var what bench.ArchiveOptions
	cmd := &cobra.Command{
		Use:   "archive",
		Short: "Bytes per group and speed of the archive format, beside Gnocchi's, Gorilla's and zstd",
		Long: `Encode and decode groups of six aggregation methods (mean, min, max, sum, count, std) in
process: generated series and, with --folder, those of CSV files (a header, then timestamp and
value; taken as regular). Formats: ours; Gnocchi's (16-bit distances and float64 by LZ4, for
each method); Prometheus' XOR chunks, after Gorilla, for each method; float64 by zstd's fastest
level, for each method, without times.

B/group are bytes for all six; encode- and decode-MB/s bytes of float64 in a second on one core,
of the columns that a format stores; the others bytes per group of each stored column.`,
		Example: `  gnocco bench archive
  gnocco bench archive --folder nab/data --each >archive.txt`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return bench.Archive(cmd.Context(), flags.options.Report, flags.options.Seed, flags.options.Count, what)
		},
	}
	cmd.Flags().StringVar(&what.Folder, "folder", "", "CSV files to measure too, also in folders below")
	cmd.Flags().IntVar(&what.Groups, "groups", 3600, "groups of generated series")
	cmd.Flags().IntSliceVar(&what.PerGroup, "per-group", []int{1, 12}, "measures in a group")
	cmd.Flags().BoolVar(&what.Each, "each", false, "a result for each file, too")
	cmd.Flags().DurationVar(&what.For, "for", 0, "how long each result takes (default 1s)")
	return cmd
}
