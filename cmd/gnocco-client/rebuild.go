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

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/gnocco-db/gnocco/cmd/gnocco-client/series"
	"github.com/gnocco-db/gnocco/cmd/shared/remote"
	"github.com/gnocco-db/gnocco/cmd/shared/table"
	"github.com/gnocco-db/gnocco/internal/client"
	"github.com/gnocco-db/gnocco/internal/counted"
	"github.com/gnocco-db/gnocco/model"
)

// rebuildFlags are the flags of rebuild.
type rebuildFlags struct {
	remote                remote.Flags
	policy, metric, after string
	definition, methods   []string
	backWindow            int
	preview, wait, cancel bool
}

func newRebuild() *cobra.Command {
	var flags rebuildFlags
	cmd := &cobra.Command{
		Use:   "rebuild",
		Short: "Give a server's archives other granularities or aggregation methods",
		Long: `Change the archives of a server, through its REST API: give an archive policy other
granularities or aggregation methods, or give a metric another archive policy. Aggregates that
were not kept before are computed from finer ones, and from the measures that the server keeps
to accept late ones. --preview prints where they come from, how far back they reach, and what is
removed. --after plans what --metric gets: until then it stays as it is, and --cancel cancels it.

The server works in the background, continues after a restart, and accepts measures meanwhile.
Without --archive-policy and --metric, the command lists the rebuilds that are under way.

The exit status is 2 if --wait saw archives that could not be rebuilt.`,
		Example: `  gnocco rebuild --archive-policy high --definition 1s:1h,1m:7d,1h:365d --preview
  gnocco rebuild --archive-policy high --aggregation-method mean,max,95pct --wait
  gnocco rebuild --metric house/outside --archive-policy high --wait`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := flags.remote.Client()
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
	flags.remote.Define(f, remote.DefaultURL,
		"address of the server, with its prefix if it has one; the user has to be an admin")
	f.StringVar(&flags.policy, "archive-policy", "",
		"archive policy to change; with --metric, the archive policy that the metric gets")
	f.StringVar(&flags.metric, "metric", "", "a single metric, by name, RESOURCE/NAME or ID, which gets another archive policy")
	f.StringSliceVar(&flags.definition, "definition", nil,
		"new granularities of the archive policy, each with the timespan that is kept, such as 1m:7d; without a "+
			"timespan, for ever")
	f.StringSliceVar(&flags.methods, "aggregation-method", nil,
		"new aggregation methods of the archive policy; +NAME and -NAME change the default ones")
	f.IntVar(&flags.backWindow, "back-window", 0, "new back window of the archive policy")
	f.StringVar(&flags.after, "after", "", "with --metric and --archive-policy: plan it for so long from now, such as 7d")
	f.BoolVar(&flags.preview, "preview", false, "change nothing; print what would happen to the archives")
	f.BoolVar(&flags.wait, "wait", false, "wait until the rebuild ends, and print its progress")
	f.BoolVar(&flags.cancel, "cancel", false, "cancel the rebuild; archives that it has not reached stay as they are")
	return cmd
}

func (flags *rebuildFlags) run(ctx context.Context, c *client.Client, out, stderr io.Writer, backWindow *int) error {
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
	var path, subject string
	var job uuid.UUID
	switch {
	case flags.after != "" && (flags.metric == "" || flags.policy == ""):
		return errors.New("--after plans which --archive-policy a --metric gets: name both")
	case flags.after != "" && (flags.wait || flags.cancel):
		return errors.New("--after plans a rebuild: neither --wait nor --cancel has one yet")
	case flags.policy == "" && flags.metric == "":
		if len(changes) > 0 || flags.preview || flags.wait || flags.cancel {
			return errors.New("name --archive-policy or --metric")
		}
		return writeRebuilds(ctx, c, out)
	case flags.metric != "":
		found, err := series.Find(ctx, c, []string{flags.metric})
		if err != nil {
			return err
		}
		id, err := uuid.Parse(found[0].ID)
		if len(found) > 1 || err != nil {
			return fmt.Errorf("--metric %s means %s: name one", flags.metric, counted.Of(len(found), "metric"))
		}
		flags.metric, path, subject = found[0].ID, "/v1/metric/"+found[0].ID, "metric "+found[0].String()
		if len(changes) > 0 {
			return errors.New("--definition, --aggregation-method and --back-window change an archive policy, " +
				"not a single metric")
		}
		job = model.RebuildOfMetric(id)
		if flags.policy != "" {
			changes["archive_policy_name"] = flags.policy
		}
		if flags.after != "" {
			changes["after"] = flags.after
		}
	default:
		path, subject = "/v1/archive_policy/"+url.PathEscape(flags.policy)+"?rebuild=true", "archive policy "+flags.policy
		job = model.RebuildOfPolicy(flags.policy)
	}
	if flags.cancel {
		err := c.Do(ctx, http.MethodDelete, "/v1/rebuild/"+job.String(), nil, nil)
		if answer, ok := errors.AsType[*client.StatusError](err); ok && answer.Status == http.StatusNotFound {
			return fmt.Errorf("no rebuild of %s is known (gnocco list jobs shows those that run)", subject)
		}
		return err
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
	return waitForRebuild(ctx, c, job, subject, stderr)
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

// begin sends the changes; without any the rebuild begins all the same.
func (flags *rebuildFlags) begin(ctx context.Context, c *client.Client, path string, changes map[string]any) error {
	if len(changes) > 0 {
		return c.Do(ctx, http.MethodPatch, path, changes, nil)
	}
	target := map[string]string{"metric_id": flags.metric}
	if flags.metric == "" {
		target = map[string]string{"archive_policy_name": flags.policy}
	}
	return c.Do(ctx, http.MethodPost, "/v1/rebuild", target, nil)
}

// shownSources are the sources of a new archive's aggregates, as people read them.
var shownSources = map[string]string{model.FromStored: "is there", model.FromRaw: "measures that are kept"}

// show prints what the changes would do.
func (flags *rebuildFlags) show(ctx context.Context, c *client.Client, out io.Writer, path string,
	changes map[string]any) error {
	if len(changes) == 0 {
		return errors.New(
			"nothing to preview: without changes, archives only get the schema that their policy already has")
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
	fmt.Fprintln(out, counted.Of(preview.Metrics, "metric"))
	t := &table.Table{Columns: []string{"granularity", "method", "from", "reaches back"}}
	for _, a := range preview.Aggregates {
		from, reach := shownSources[a.From], "all there is"
		if a.Of != nil {
			from = "aggregates of " + *a.Of
		}
		if a.Reach != nil {
			reach = *a.Reach
		}
		t.Add(a.Granularity, a.Method, cmp.Or(from, a.From), reach)
	}
	if err := t.Write(out, "table"); err != nil {
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
