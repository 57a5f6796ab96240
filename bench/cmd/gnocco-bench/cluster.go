package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/gnocco-db/gnocco/bench"
)

func newCluster(flags *commonFlags) *cobra.Command {
	var what bench.ClusterOptions
	var shapes []string
	cmd := &cobra.Command{
		Use:   "cluster",
		Short: "Measure several processes on one folder: how long takeovers last, what separate roles cost",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			if what.Shapes, err = bench.ParseShapes(shapes); err != nil {
				return err
			}
			return bench.Cluster(cmd.Context(), flags.options, what)
		},
	}
	cmd.Flags().StringSliceVar(&what.Parts, "parts", nil,
		"parts to measure: "+strings.Join(bench.ClusterParts, ", ")+" (default: all but churn)")
	cmd.Flags().IntVar(&what.Metrics, "metrics", 10_000, "number of metrics")
	cmd.Flags().IntVar(&what.Measures, "measures", 3_600_000, "measures to send, in total")
	cmd.Flags().IntVar(&what.OutageMeasures, "outage-measures", 0,
		"measures to send while no metricd runs (default: as --measures)")
	cmd.Flags().StringSliceVar(&shapes, "shape", []string{"10000x1@4", "100x60@4"},
		"what a request holds, as METRICSxMEASURES@CONNECTIONS (may be repeated); outage takes the first")
	cmd.Flags().IntSliceVar(&what.Workers, "metricd", []int{1, 2, 3},
		"how many processes of metricd run beside one of the API; a run for each number")
	cmd.Flags().DurationVar(&what.LeaseTTL, "lease-ttl", 0, "--lease-ttl of the servers of the part stall (default 2s)")
	cmd.Flags().DurationVar(&what.LeaseSlack, "lease-slack", 0,
		"--lease-slack of the servers of the part stall (default 1s)")
	cmd.Flags().IntVar(&what.Churn.Metricd, "churn-metricd", 16, "processes of metricd of the part churn")
	cmd.Flags().IntVar(&what.Churn.Sacks, "churn-sacks", 256, "sacks of the part churn")
	cmd.Flags().IntVar(&what.Churn.Rate, "churn-rate", 200_000, "measures a second of the part churn")
	cmd.Flags().DurationVar(&what.Churn.Length, "churn-length", 0, "how long the part churn lasts (default 8m)")
	cmd.Flags().DurationVar(&what.Churn.Every, "churn-every", 0, "time between a leave and a join (default 20s)")
	return cmd
}
