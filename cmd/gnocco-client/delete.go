package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/gnocco-db/gnocco/cmd/gnocco-client/complete"
	"github.com/gnocco-db/gnocco/cmd/gnocco-client/series"
	"github.com/gnocco-db/gnocco/cmd/shared/table"
	"github.com/gnocco-db/gnocco/internal/client"
	"github.com/gnocco-db/gnocco/internal/counted"
)

func newDelete() *cobra.Command {
	var yes bool
	var r deletedRange
	cmd := &cobra.Command{
		Use:   "delete SELECTOR...",
		Short: "Delete metrics, or their measures in a range of time",
		Long: `Delete metrics with all their aggregates or, with --start or --stop, their measures of that time.
Without --yes the command only says what it would delete.

Where raw measures are gone, whole groups are deleted: the command names those that had measures
outside the time. Backups keep what they have (gnocco backup --keep). gnocco list ledger shows who
deleted measures.

` + series.SelectorHelp,
		Example: `  gnocco delete house/attic
  gnocco delete house/outside --start 2026-05-01T10:00 --stop 2026-05-01T10:05 --reason spike --yes`,
		Args: cobra.MinimumNArgs(1),
	}
	remote := askServer(cmd, func(cmd *cobra.Command, c *client.Client, args []string) error {
		found, err := series.Find(cmd.Context(), c, args)
		if err != nil {
			return err
		}
		if r.Start != "" || r.Stop != "" {
			return r.delete(cmd, c, found, yes)
		}
		out := cmd.OutOrStdout()
		for _, s := range found {
			if yes {
				if err := c.Do(cmd.Context(), "DELETE", "/v1/metric/"+s.ID, nil, nil); err != nil {
					return s.Failed(err)
				}
			}
			if _, err := fmt.Fprintln(out, s.String()); err != nil {
				return err
			}
		}
		verb := "would be deleted: repeat with --yes"
		if yes {
			verb = "deleted"
		}
		_, err = fmt.Fprintf(cmd.ErrOrStderr(), "%s %s\n", counted.Of(len(found), "metric"), verb)
		return err
	})
	cmd.Flags().BoolVar(&yes, "yes", false, "delete them")
	series.DefineTime(cmd.Flags(), &r.Start, "start", "", "delete measures from this time on: a date and time, a year, or seconds since 1970")
	series.DefineTime(cmd.Flags(), &r.Stop, "stop", "", "delete measures before this time")
	cmd.Flags().StringVar(&r.Reason, "reason", "", "for the ledger, with --start or --stop")
	cmd.ValidArgsFunction = complete.Ask(remote, complete.Selectors)
	return cmd
}

// deletedRange is the measures to delete, as a request for it says them.
type deletedRange struct {
	Metrics []string `json:"metrics"`
	Start   string   `json:"start,omitempty"`
	Stop    string   `json:"stop,omitempty"`
	Reason  string   `json:"reason,omitempty"`
}

// deletedMetrics is how many metrics a request names: a body has 1 MiB.
const deletedMetrics = 10_000

// delete deletes the measures of metrics, or says what would be deleted.
func (r *deletedRange) delete(cmd *cobra.Command, c *client.Client, found []*series.Series, yes bool) error {
	names := make(map[string]string, len(found))
	for _, s := range found {
		names[s.ID] = s.String()
	}
	verb := "would be deleted: repeat with --yes"
	if yes {
		verb = "are deleted"
	}
	t := &table.Table{Columns: []string{"lost group", "granularity", "metric"}}
	var metrics, before, after int
	var bytes int64
	for some := range slices.Chunk(found, deletedMetrics) {
		done, err := r.request(cmd.Context(), c, some, yes)
		if err != nil {
			return err
		}
		metrics, before, after, bytes = metrics+done.Metrics, before+done.Before, after+done.After, bytes+done.Bytes
		for _, g := range done.Lost {
			t.Add(g.Timestamp, g.Granularity, names[g.Metric])
		}
		if done.Failed > 0 {
			return fmt.Errorf("%s damaged, measures kept: %s", counted.Of(done.Failed, "metric"), done.Error)
		}
	}
	if len(t.Rows) > 0 {
		if err := t.Write(cmd.OutOrStdout(), "table"); err != nil {
			return err
		}
	}
	change := counted.Of(bytes, "byte") + " less"
	if bytes < 0 { // compressed, fewer measures can take more
		change = counted.Of(-bytes, "byte") + " more"
	}
	_, err := fmt.Fprintf(cmd.ErrOrStderr(), "measures of %s %s; groups %d -> %d, %s\n",
		counted.Of(metrics, "metric"), verb, before, after,
		change)
	return err
}

// deletedAnswer is the server's answer.
type deletedAnswer struct {
	Metrics, Failed int
	Before          int `json:"groups_before"`
	After           int `json:"groups_after"`
	Bytes           int64
	Lost            []struct {
		Metric      string `json:"metric_id"`
		Granularity float64
		Timestamp   string
	}
	Error string
}

func (r *deletedRange) request(ctx context.Context, c *client.Client, found []*series.Series, yes bool) (
	done deletedAnswer, err error) {
	r.Metrics = r.Metrics[:0]
	for _, s := range found {
		r.Metrics = append(r.Metrics, s.ID)
	}
	return done, c.Do(ctx, "POST", fmt.Sprintf("/v1/measures/delete?dry_run=%t", !yes), r, &done)
}
