package main

import (
	"strings"

	"github.com/spf13/cobra"

	"gnocco/internal/bench"
)

func newBenchCluster(flags *benchFlags) *cobra.Command {
	var what bench.ClusterOptions
	var shapes []string
	cmd := &cobra.Command{
		Use:   "cluster",
		Short: "Several processes on one folder: how long sacks change hands, what separation costs",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			if what.Shapes, err = bench.ParseShapes(shapes); err != nil {
				return err
			}
			return bench.Cluster(cmd.Context(), flags.options, what)
		},
	}
	cmd.Flags().StringSliceVar(&what.Parts, "parts", nil, "of "+strings.Join(bench.ClusterParts, ", ")+" (default all)")
	cmd.Flags().IntVar(&what.Metrics, "metrics", 10_000, "metrics that measures are sent for")
	cmd.Flags().IntVar(&what.Measures, "measures", 3_600_000, "measures to send in all")
	cmd.Flags().IntVar(&what.OutageMeasures, "outage-measures", 0, "measures to send while there is no metricd (default as many)")
	cmd.Flags().StringSliceVar(&shapes, "shape", []string{"10000x1@4", "100x60@4"},
		"metrics x measures of each in one request @ connections; the first also of outage")
	cmd.Flags().IntSliceVar(&what.Workers, "metricd", []int{1, 2, 3}, "how many processes of metricd to ingest with, beside one of the API")
	cmd.Flags().DurationVar(&what.LeaseTTL, "lease-ttl", 0, "lease of stall (default 2s)")
	cmd.Flags().DurationVar(&what.LeaseSlack, "lease-slack", 0, "slack of stall (default 1s)")
	return cmd
}
