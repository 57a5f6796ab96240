package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"text/tabwriter"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"gnocco/internal/client"
	"gnocco/model"
)

// reaggregateFlags are the flags of reaggregate.
type reaggregateFlags struct {
	url, user             string
	policy, metric        string
	definition, methods   []string
	backWindow            int
	preview, wait, cancel bool
}

func newReaggregate() *cobra.Command {
	var flags reaggregateFlags
	cmd := &cobra.Command{
		Use:   "reaggregate",
		Short: "Change what a server's archives hold, as if they always had",
		Long: `Change what a server's archives hold, through its REST API: give an archive policy other
granularities or aggregation methods, or a metric another archive policy. Aggregates that were
not kept so far are computed from finer ones and from the measures that are there to accept
late ones; --preview says from what, how far back, and what is removed.

The server works on it in the background, goes on with it after a restart, and takes measures
meanwhile. With neither --archive-policy nor --metric, what is under way is listed.

The exit status is 2 if --wait has seen archives that could not be changed.`,
		Example: `  gnocco reaggregate --archive-policy high --definition 1s:1h,1m:7d,1h:365d --preview
  gnocco reaggregate --archive-policy high --aggregation-method mean,max,95pct --wait
  gnocco reaggregate --metric 5f2e33a7-6b4e-4d43-9a1e-2a40d3a2b1c9 --archive-policy high --wait`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := client.New(flags.url, flags.user)
			if err != nil {
				return err
			}
			var backWindow *int
			if cmd.Flags().Changed("back-window") {
				backWindow = &flags.backWindow
			}
			return flags.run(cmd.Context(), c, cmd.OutOrStdout(), cmd.ErrOrStderr(), backWindow)
		},
	}
	f := cmd.Flags()
	f.StringVar(&flags.url, "url", "http://127.0.0.1:8041", "address of the server, with its prefix if it has one")
	f.StringVar(&flags.user, "user", "admin", "user to ask as, who has to be an admin")
	f.StringVar(&flags.policy, "archive-policy", "", "archive policy whose metrics are meant, or that --metric is to have")
	f.StringVar(&flags.metric, "metric", "", "ID of the one metric that is meant")
	f.StringSliceVar(&flags.definition, "definition", nil, "granularities that the archive policy is to have, each with the timespan that is kept of it, like 1m:7d; none for without limit")
	f.StringSliceVar(&flags.methods, "aggregation-method", nil, "aggregation methods that the archive policy is to have; +NAME and -NAME change the default ones")
	f.IntVar(&flags.backWindow, "back-window", 0, "back window that the archive policy is to have")
	f.BoolVar(&flags.preview, "preview", false, "change nothing; say what would become of archives")
	f.BoolVar(&flags.wait, "wait", false, "wait until it is done, and show how far it is")
	f.BoolVar(&flags.cancel, "cancel", false, "cancel what is under way; archives that it has not come to stay as they are")
	return cmd
}

func (flags *reaggregateFlags) run(ctx context.Context, c *client.Client, out, stderr io.Writer, backWindow *int) error {
	changes := map[string]any{}
	if flags.definition != nil {
		changes["definition"] = definitionOf(flags.definition)
	}
	if flags.methods != nil {
		changes["aggregation_methods"] = flags.methods
	}
	if backWindow != nil {
		changes["back_window"] = *backWindow
	}
	path := "/v1/metric/" + url.PathEscape(flags.metric)
	var job uuid.UUID
	switch {
	case flags.policy == "" && flags.metric == "":
		if len(changes) > 0 || flags.preview || flags.wait || flags.cancel {
			return errors.New("say what is meant: --archive-policy or --metric")
		}
		return listReaggregations(ctx, c, out)
	case flags.metric != "":
		id, err := uuid.Parse(flags.metric)
		if err != nil {
			return fmt.Errorf("--metric: %w", err)
		}
		if len(changes) > 0 {
			return errors.New("--definition, --aggregation-method and --back-window change archive policies, not one metric")
		}
		job = model.ReaggregationOfMetric(id)
		if flags.policy != "" {
			changes["archive_policy_name"] = flags.policy
		}
	default:
		path = "/v1/archive_policy/" + url.PathEscape(flags.policy) + "?reaggregate=true"
		job = model.ReaggregationOfPolicy(flags.policy)
	}
	if flags.cancel {
		return c.Do(ctx, http.MethodDelete, "/v1/reaggregation/"+job.String(), nil, nil)
	}
	if flags.preview {
		return flags.show(ctx, c, out, path, changes)
	}
	if err := flags.begin(ctx, c, path, changes); err != nil {
		return err
	}
	if !flags.wait {
		return nil
	}
	return waitForReaggregation(ctx, c, job, stderr)
}

// definitionOf reads items like 1m:7d.
func definitionOf(items []string) []map[string]string {
	var definition []map[string]string
	for _, item := range items {
		granularity, timespan, limited := strings.Cut(item, ":")
		d := map[string]string{"granularity": granularity}
		if limited {
			d["timespan"] = timespan
		}
		definition = append(definition, d)
	}
	return definition
}

// begin sends the changes; without any the reaggregation begins all the same.
func (flags *reaggregateFlags) begin(ctx context.Context, c *client.Client, path string, changes map[string]any) error {
	if len(changes) > 0 {
		return c.Do(ctx, http.MethodPatch, path, changes, nil)
	}
	target := map[string]string{"metric_id": flags.metric}
	if flags.metric == "" {
		target = map[string]string{"archive_policy_name": flags.policy}
	}
	return c.Do(ctx, http.MethodPost, "/v1/reaggregation", target, nil)
}

// show prints what the changes would do.
func (flags *reaggregateFlags) show(ctx context.Context, c *client.Client, out io.Writer, path string, changes map[string]any) error {
	if len(changes) == 0 {
		return errors.New("nothing to preview: archives that are not in the form of their policy would get it")
	}
	separator := "?"
	if strings.Contains(path, "?") {
		separator = "&"
	}
	var preview struct {
		Metrics    int
		Aggregates []struct {
			Granularity, From string
			Method            string  `json:"aggregation_method"`
			Of                *string `json:"of_granularity"`
			Reach             *string `json:"reaches_back"`
		}
		Granularities []string `json:"removed_granularities"`
		Methods       []string `json:"removed_aggregation_methods"`
	}
	if err := c.Do(ctx, http.MethodPatch, path+separator+"dry_run=true", changes, &preview); err != nil {
		return err
	}
	fmt.Fprintf(out, "%d metrics\n", preview.Metrics)
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "GRANULARITY\tMETHOD\tFROM\tREACHES BACK")
	for _, a := range preview.Aggregates {
		from, reach := map[string]string{model.FromStored: "is there", model.FromRaw: "measures that are kept"}[a.From], "all there is"
		if a.Of != nil {
			from = "aggregates of " + *a.Of
		}
		if a.Reach != nil {
			reach = *a.Reach
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", a.Granularity, a.Method, cmp.Or(from, a.From), reach)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	if len(preview.Granularities) > 0 {
		fmt.Fprintln(out, "removed, all aggregates at:", strings.Join(preview.Granularities, ", "))
	}
	if len(preview.Methods) > 0 {
		fmt.Fprintln(out, "removed, all aggregates by:", strings.Join(preview.Methods, ", "))
	}
	return nil
}
