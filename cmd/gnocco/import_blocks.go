package main

import (
	"io"

	"github.com/spf13/cobra"

	"github.com/gnocco-db/gnocco/cmd/gnocco/internal/csvimport"
)

func newImportBlocks() *cobra.Command {
	var flags importFlags
	cmd := &cobra.Command{
		Use:   "blocks DIR...",
		Short: "Send the samples of Prometheus' blocks to a server",
		Long: `Send the samples of blocks of Prometheus, Thanos or Mimir to a server, through its REST API. DIR is a
block or a folder with blocks below it, such as Prometheus' data folder or a snapshot of it. Samples
that only the write-ahead log has are in no block. Blocks are only read.

Each set of labels is a series of its own, the one that Prometheus pushes with them by remote write.
Labels that Thanos or Mimir has for a whole block count as well. Native histograms are named and left
out.

Aggregates of 5 minutes and an hour, in blocks that Thanos downsampled, become the groups of that
width and of its multiples that the archive policy has; they need the role admin. Where a metric has
other measures, these stay. Import all blocks of a series at once, or older ones later.

Order, history, reports and exit statuses are those of gnocco import csv. Samples wait in a temporary
file (20 bytes each; TMPDIR).`,
		Example: `  gnocco import blocks --dry-run --archive-policy prometheus /var/lib/prometheus
  gnocco import blocks --archive-policy prometheus snapshots/20260101T000000Z-0123456789abcdef`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, folders []string) error {
			return flags.run(cmd, folders, func(i *csvimport.Importer, folder string, _ io.Reader) error {
				return i.Blocks(cmd.Context(), folder)
			})
		},
	}
	flags.define(cmd.Flags())
	completeFlags(cmd, &flags.remote)
	return cmd
}
