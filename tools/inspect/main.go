package main

import (
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/cmd/shared"
	"github.com/gnocco-db/gnocco/cmd/shared/offline"
	"github.com/gnocco-db/gnocco/model"
)

func main() {
	if newInspect().Execute() != nil {
		os.Exit(1)
	}
}

func newInspect() *cobra.Command {
	var data string
	cmd := &cobra.Command{
		Use:   "inspect",
		Short: "Look into a data folder that no server uses",
		Long: `Look into a data folder that no server uses, without changing it: list its stores and metrics,
show how the splits of a metric are stored, decode a split.`,
		Args: cobra.NoArgs, SilenceUsage: true,
		Example: `  go run ./tools/inspect stores
  go run ./tools/inspect metrics
  go run ./tools/inspect metric 5a301761-aaaa-46e2-8900-8b4f6fe6675a
  go run ./tools/inspect split 5a301761-aaaa-46e2-8900-8b4f6fe6675a 60s 2026-02-14T14:00`,
	}
	cmd.PersistentFlags().StringVar(&data, "data", shared.StateFolder("gnocco"), "data folder")
	add := func(use, short string, args int, run func(cmd *cobra.Command, d *offline.Data, args []string) error) {
		cmd.AddCommand(&cobra.Command{
			Use: use, Short: short, Args: cobra.ExactArgs(args),
			RunE: func(cmd *cobra.Command, args []string) error {
				d, err := offline.Open(data)
				if err != nil {
					return err
				}
				return errors.Join(run(cmd, d, args), d.Close())
			},
		})
	}
	add("stores", "List the stores with their keys and bytes", 0, inspectStores)
	add("metrics", "List the metrics with their stored aggregates and measures", 0, inspectMetrics)
	add("quarantine", "List what did not decode and is kept", 0, inspectQuarantine)
	add("metric ID", "Say how the splits of a metric are stored", 1, inspectMetric)
	add("split ID GRANULARITY TIME", "Decode the split of a metric that holds a time", 3, inspectSplit)
	return cmd
}

func inspectStores(cmd *cobra.Command, d *offline.Data, _ []string) error {
	return listStores(d, cmd.OutOrStdout())
}

func inspectMetrics(cmd *cobra.Command, d *offline.Data, _ []string) error {
	return listMetrics(cmd.Context(), d, cmd.OutOrStdout())
}

func inspectQuarantine(cmd *cobra.Command, d *offline.Data, _ []string) error {
	return listQuarantine(d, cmd.OutOrStdout())
}

func inspectMetric(cmd *cobra.Command, d *offline.Data, args []string) error {
	id, err := parseMetricID(args[0])
	if err != nil {
		return err
	}
	return showMetric(cmd.Context(), d, cmd.OutOrStdout(), id)
}

func inspectSplit(cmd *cobra.Command, d *offline.Data, args []string) error {
	id, err := parseMetricID(args[0])
	if err != nil {
		return err
	}
	granularity, err := model.ParseTimespan(args[1])
	if err != nil {
		return fmt.Errorf("granularity %q: %w", args[1], err)
	}
	t, err := model.ParseTimestamp(args[2], carbonara.FromTime(time.Now()))
	if err != nil {
		return fmt.Errorf("time %q: %w", args[2], err)
	}
	return showSplit(d, cmd.OutOrStdout(), id, granularity, t)
}

func parseMetricID(text string) (uuid.UUID, error) {
	id, err := uuid.Parse(text)
	if err != nil {
		return id, fmt.Errorf("%q is not a metric's ID: %w", text, err)
	}
	return id, nil
}
