package main

import (
	"github.com/spf13/cobra"

	"github.com/gnocco-db/gnocco/cmd/gnocco/internal/csvimport"
)

func newImportLines() *cobra.Command {
	var flags importFlags
	cmd := &cobra.Command{
		Use:   "jsonl FILE...",
		Short: "Send the measures of JSON lines to a server",
		Long: `Send the measures of files of JSON lines to a server, through its REST API; - means standard input.

A line is a metric, as gnocco export jsonl and VictoriaMetrics write it: an object with the labels of
"metric", the numbers of "values" and of "timestamps", in milliseconds. Each set of labels is a series
of its own, the one that senders push with them. In an export of Gnocco's, the member "gnocco" names
the resource, the unit and the archive policy, and the metric goes back to where it was.

Order, history, compression, reports and exit statuses are those of gnocco import csv.`,
		Example: `  gnocco export jsonl --url http://old:8041 > all.jsonl
  gnocco import jsonl --url http://new:8041 all.jsonl
  gnocco import jsonl --archive-policy auto victoria.jsonl.gz`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, files []string) error {
			return flags.run(cmd, files, (*csvimport.Importer).Lines)
		},
	}
	flags.define(cmd.Flags())
	completeFlags(cmd, &flags.remote)
	return cmd
}
