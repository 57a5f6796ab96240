package main

import (
	"time"

	"github.com/spf13/cobra"

	"github.com/gnocco-db/gnocco/bench"
)

func newFleet(flags *commonFlags) *cobra.Command {
	var what bench.FleetOptions
	cmd := &cobra.Command{
		Use:   "fleet",
		Short: "Measure servers that take the same measures of many metrics at the same time",
		Long: `Send the same measures of hosts with 20 metrics each to several servers at the pace at which they
arise, and read meanwhile: CPU, memory, bytes written, disk, latency, and how long each takes to
answer after kill -9 and after a stop. A server is KIND[@LABEL][=PROGRAM]. The kinds are
gnocco-lines and gnocco-json (by InfluxDB's line protocol, and Gnocchi's API), victoria and
influxdb (line protocol), and prometheus (remote write). One whose program is missing is left out.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return bench.Fleet(cmd.Context(), flags.options, what)
		},
	}
	cmd.Flags().StringSliceVar(&what.Servers, "server", nil,
		"server to run, as KIND[@LABEL][=PROGRAM] (may be repeated; default: one of each kind)")
	cmd.Flags().IntVar(&what.Metrics, "metrics", 100_000, "number of metrics")
	cmd.Flags().DurationVar(&what.Step, "step", 10*time.Second,
		"time between two measures of a metric: a part of a minute")
	cmd.Flags().DurationVar(&what.For, "for", 10*time.Minute, "the time that measures span")
	cmd.Flags().IntVar(&what.PerRequest, "per-request", 0, "metrics in a request (default: a hundredth of them)")
	cmd.Flags().IntVar(&what.Pack, "pack", 1, "measures of a metric in a request")
	cmd.Flags().BoolVar(&what.Past, "past", false, "measures end now, and are sent as fast as they are taken")
	cmd.Flags().IntVar(&what.Connections, "connections", 1, "requests at the same time, to each server")
	cmd.Flags().Int64Var(&what.MemoryLimit, "memory-limit", 512<<20, "bytes, of the servers that have such a setting")
	cmd.Flags().DurationVar(&what.ReadEvery, "read-every", 10*time.Second, "time between reads")
	return cmd
}
