package exports

import (
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/gnocco-db/gnocco/cmd/gnocco-client/series"
	"github.com/gnocco-db/gnocco/cmd/shared/remote"
)

// Archive is the form of an export that has whole archives.
const Archive = "archive"

// Forms are the forms of an export.
var Forms = []string{"csv", "jsonl", "prometheus", Archive}

// Options are the flags of an export.
type Options struct {
	Remote remote.Flags
	Read   series.ReadFlags
	From   string // metric before which others are left out, and the header
	To     string // file that is written; "": standard output
}

// New returns the command, and its options. Its arguments are a form and selectors.
func New(run func(cmd *cobra.Command, o *Options, args []string) error) (*cobra.Command, *Options) {
	o := new(Options)
	cmd := &cobra.Command{
		Use:   "export csv|jsonl|prometheus|archive [SELECTOR...]",
		Short: "Write aggregates of metrics as CSV, JSON lines or Prometheus' text, or whole archives",
		Long: `Write aggregates of metrics to standard output, metric by metric, those of all metrics without a
SELECTOR, in the order of their names. Each has the time at which its group begins. If an export ends
early, it says by which --from another one goes on: the output of both is the whole. With --to the
same command goes on, also after a kill or a crash.

` + series.SelectorHelp + `

  csv         timestamp,resource,metric,unit,archive_policy,value; gnocco import csv reads it
  jsonl       an object a metric, as VictoriaMetrics exports it: labels, values, times in ms;
              gnocco import jsonl reads it
  prometheus  a line an aggregate, in Prometheus' text format: labels, value, time in ms
  archive     all of each metric, for another Gnocco: its archive to the bit, resource, type, labels,
              archive policy; without a SELECTOR also all policies, rules and types of resources;
              gnocco import archive reads it

With --granularity all, each metric has its aggregates of all granularities, the finest first; csv has
one more column with it. An import takes one granularity.`,
		Example: `  gnocco export csv house/outside --start -7d
  gnocco export jsonl '{job="node"}' --aggregation max --granularity 1h
  gnocco export archive '{project_id="p"}' | gnocco import archive --url http://other:8041 -`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if !slices.Contains(Forms, args[0]) {
				return fmt.Errorf("format %q is none of csv, jsonl, prometheus and archive", args[0])
			}
			return run(cmd, o, args)
		},
	}
	flags := cmd.Flags()
	o.Remote.Define(flags, remote.DefaultURL, "address of the server, with its prefix if it has one")
	o.Read.Define(flags, "")
	cmd.MarkFlagsMutuallyExclusive("since", "start")
	flags.StringVar(&o.From, "from", "", "go on with an export: without the metrics before this one, and the header")
	flags.StringVar(&o.To, "to", "", "write this file, by way of FILE.part; after an interruption the same command goes on")
	cmd.MarkFlagsMutuallyExclusive("from", "to")
	return cmd, o
}
