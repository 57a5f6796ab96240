package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/gnocco-db/gnocco/cmd/gnocco-client/complete"
	"github.com/gnocco-db/gnocco/cmd/gnocco-client/series"
	"github.com/gnocco-db/gnocco/cmd/shared/remote"
	"github.com/gnocco-db/gnocco/cmd/shared/table"
	"github.com/gnocco-db/gnocco/internal/client"
	"github.com/gnocco-db/gnocco/internal/counted"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/query/activity"
)

type listing func(ctx context.Context, c *client.Client, selectors []string) (*table.Table, error)

// listings make the tables of gnocco list, by kind.
var listings = map[string]listing{
	"metrics": listMetrics, "resources": listResources, "policies": listPolicies, "projects": listProjects,
	"ledger": listLedger, "jobs": listJobs, "queries": listQueries, "costs": listCosts, "unread": listUnread,
	"types": rowsOf("/v1/resource_type", []string{"type", "attributes"}, func(t *table.Table, one resourceType) {
		t.Add(one.Name, strings.Join(slices.Sorted(maps.Keys(one.Attributes)), ", "))
	}),
	"rules": rowsOf("/v1/archive_policy_rule", []string{"rule", "pattern", "policy"}, addRule),
	"backups": rowsOf("/v1/backups", []string{"begun", "seconds", "user", "to", "files", "bytes", "new bytes",
		"incremental", "behind", "error"}, addBackup),
}

func newList() *cobra.Command {
	kinds := slices.Sorted(maps.Keys(listings))
	cmd := &cobra.Command{
		Use:   "list KIND [SELECTOR...]",
		Short: "List the metrics, resources, archive policies and queries of a server, and more",
		Long: `List what a server has: metrics, resources, policies, types (of resources), rules (which archive
policy a new metric gets), projects (and their quotas), the ledger (deletions and corrections of
measures), backups (the last 100), jobs (rebuilds, changes of measures, correlations and queries that
run), queries (that run), costs (of queries so far) or unread (metrics that no query has read). Metrics
may be selected, and resources by their name, ID or an attribute, or by a part of these.

` + series.SelectorHelp,
		Example: `  gnocco list metrics '{job="node"}'
  gnocco list policies -o json`,
		Args: cobra.MinimumNArgs(1),
	}
	remote := askForTable(cmd, func(cmd *cobra.Command, c *client.Client, args []string) (*table.Table, error) {
		list := listings[args[0]]
		if list == nil {
			return nil, fmt.Errorf("%q is none of %s%s", args[0], strings.Join(kinds, ", "), remote.DidYouMean(args[0], kinds))
		}
		if len(args) > 1 && args[0] != "metrics" && args[0] != "resources" {
			return nil, fmt.Errorf("%s cannot be selected", args[0])
		}
		return list(cmd.Context(), c, args[1:])
	})
	cmd.ValidArgsFunction = complete.FirstOf(kinds, complete.Ask(remote, complete.Selectors))
	return cmd
}

func listMetrics(ctx context.Context, c *client.Client, selectors []string) (*table.Table, error) {
	found, err := series.Search(ctx, c, selectors)
	t := &table.Table{Columns: []string{"metric", "policy", "id"}}
	for _, s := range found {
		t.Add(s.String(), s.Policy, s.ID)
	}
	return t, err
}

// pageSize is how many resources a request lists: a server may allow fewer.
const pageSize = 1000

// listResources lists the resources that have one of the texts. Where an attribute equals a text, parts do not count.
func listResources(ctx context.Context, c *client.Client, texts []string) (*table.Table, error) {
	t := &table.Table{Columns: []string{"resource", "name", "type", "metrics", "started", "ended", "id"}}
	var rows [][]any
	ranks := make([][]int, len(texts)) // of each row, by text
	err := eachRow(ctx, c, "/v1/resource/generic", url.Values{"sort": {"id:asc"}, "details": {"true"}}, func(r resource) string {
		metrics, _ := r["metrics"].(map[string]any)
		name := cmp.Or(r.text("display_name"), r.text("host_name"), r.text("host"), r.text("name"))
		rows = append(rows, []any{r.text("original_resource_id"), name, r.text("type"), len(metrics), r.text("started_at"),
			r.text("ended_at"), r.text("id")})
		for i, text := range texts {
			ranks[i] = append(ranks[i], r.rank(text))
		}
		return r.text("id")
	})
	if err != nil {
		return nil, err
	}
	for i, text := range texts {
		if len(ranks[i]) == 0 || slices.Max(ranks[i]) == 0 {
			return nil, fmt.Errorf("no resource is %s (gnocco list resources shows all)", text)
		}
	}
	for k, row := range rows {
		isBest := func(all []int) bool { return all[k] > 0 && all[k] == slices.Max(all) }
		if len(texts) == 0 || slices.ContainsFunc(ranks, isBest) {
			t.Add(row...)
		}
	}
	return t, nil
}

// resource is a resource with its attributes.
type resource map[string]any

func (r resource) text(attribute string) string {
	text, _ := r[attribute].(string)
	return text
}

// rank returns 2 if an attribute is a text, also as attribute=value, 1 if one has it, in any case, else 0.
func (r resource) rank(text string) (best int) {
	text = strings.ToLower(text)
	if id, err := uuid.Parse(text); err == nil && r.text("id") == id.String() {
		return 2
	}
	for attribute := range r {
		value := strings.ToLower(r.text(attribute))
		pair := strings.ToLower(attribute) + "=" + value
		switch {
		case value == "":
		case value == text || pair == text:
			return 2
		case strings.Contains(value, text) || strings.Contains(text, "=") && strings.Contains(pair, text):
			best = 1
		}
	}
	return best
}

// eachRow passes the rows of all pages of a listing to use, which returns the row's marker.
func eachRow[T any](ctx context.Context, c *client.Client, path string, query url.Values,
	use func(T) (marker string)) error {
	query.Set("limit", fmt.Sprint(pageSize))
	for {
		var page []T
		if err := c.Do(ctx, "GET", path+"?"+query.Encode(), nil, &page); err != nil || len(page) == 0 {
			return err
		}
		for _, row := range page {
			query.Set("marker", use(row))
		}
	}
}

func listPolicies(ctx context.Context, c *client.Client, _ []string) (*table.Table, error) {
	all, err := c.ArchivePolicies(ctx)
	t := &table.Table{Columns: []string{"policy", "definition", "methods"}}
	for _, p := range all {
		var items []string
		for _, item := range p.Definition {
			timespan := "always"
			if item.Timespan != nil {
				timespan = series.ShortSpan(*item.Timespan)
			}
			items = append(items, series.ShortSpan(item.Granularity)+" for "+timespan)
		}
		t.Add(p.Name, strings.Join(items, "; "), strings.Join(p.Methods, ", "))
	}
	return t, err
}

// rowsOf lists what a path answers, by add for each row.
func rowsOf[T any](path string, columns []string, add func(t *table.Table, one T)) listing {
	return func(ctx context.Context, c *client.Client, _ []string) (*table.Table, error) {
		var all []T
		err := c.Do(ctx, "GET", path, nil, &all)
		t := &table.Table{Columns: columns}
		for _, one := range all {
			add(t, one)
		}
		return t, err
	}
}

type resourceType struct {
	Name       string
	Attributes map[string]any
}

type policyRule struct {
	Name    string
	Pattern string `json:"metric_pattern"`
	Policy  string `json:"archive_policy_name"`
}

func addRule(t *table.Table, one policyRule) { t.Add(one.Name, one.Pattern, one.Policy) }

func addBackup(t *table.Table, b model.Backup) {
	var behind any
	if b.Follows {
		behind = time.Since(b.Begun).Round(time.Second)
	}
	t.Add(b.Begun.Format(time.RFC3339), int(b.Ended.Sub(b.Begun).Seconds()), b.User, b.To, b.Files, b.Bytes, b.Written,
		b.Incremental, behind, b.Error)
}

func listLedger(ctx context.Context, c *client.Client, _ []string) (*table.Table, error) {
	t := &table.Table{Columns: []string{"at", "user", "kind", "start", "stop", "metrics", "groups before", "groups after", "state",
		"reason", "selector"}}
	return t, eachRow(ctx, c, "/v1/ledger", url.Values{}, func(e ledgerEntry) (marker string) {
		t.Add(e.At, e.User, e.Kind, e.Start, e.Stop, e.Metrics, e.Before, e.After, e.State, e.Reason, e.Selector)
		return e.ID
	})
}

// ledgerEntry is a deletion or a correction of measures, as the server tells it.
type ledgerEntry struct {
	ID, At, User, Kind, Start, Stop, State, Reason, Selector string
	Metrics                                                  int
	Before                                                   int `json:"groups_before"`
	After                                                    int `json:"groups_after"`
}

// listJobs lists what a server has begun and not ended. Lists that the user may not see are left out.
func listJobs(ctx context.Context, c *client.Client, _ []string) (*table.Table, error) {
	t := &table.Table{Columns: []string{"job", "state", "progress", "subject", "id"}}
	for _, add := range []func(context.Context, *client.Client, *table.Table) error{addRebuilds, addChanges,
		addCorrelations, addQueries} {
		var answer *client.StatusError
		if err := add(ctx, c, t); err != nil && !(errors.As(err, &answer) && answer.Status == http.StatusForbidden) {
			return nil, err
		}
	}
	return t, nil
}

func addRebuilds(ctx context.Context, c *client.Client, t *table.Table) error {
	all, err := listRebuilds(ctx, c)
	for _, r := range all {
		if r.State == model.RebuildRunning || r.State == model.RebuildPlanned {
			t.Add("rebuild", r.shownState(), fmt.Sprintf("%d of %s", r.done(), counted.Of(r.Metrics, "metric")), r.of(), r.ID)
		}
	}
	return err
}

// addChanges adds deletions and corrections of measures.
func addChanges(ctx context.Context, c *client.Client, t *table.Table) error {
	return eachRow(ctx, c, "/v1/ledger", url.Values{}, func(e ledgerEntry) (marker string) {
		if e.State == model.LedgerBegun.String() {
			t.Add(e.Kind, e.State, counted.Of(e.Metrics, "metric"), e.Selector, e.ID)
		}
		return e.ID
	})
}

func addCorrelations(ctx context.Context, c *client.Client, t *table.Table) error {
	var all []struct {
		ID, State, Aggregation string
		Progress               float64
		Metrics                int
	}
	err := c.Do(ctx, "GET", "/v1/correlations", nil, &all)
	for _, job := range all {
		if job.State == "queued" || job.State == "running" {
			t.Add("correlation", job.State, fmt.Sprintf("%.0f %%", 100*job.Progress),
				fmt.Sprintf("%s of %s", job.Aggregation, counted.Of(job.Metrics, "metric")), job.ID)
		}
	}
	return err
}

func addQueries(ctx context.Context, c *client.Client, t *table.Table) error {
	return eachQuery(ctx, c, func(q activity.Running, state string) {
		t.Add("query", state, fmt.Sprintf("%v s", seconds(q.Seconds)), queryText(q.Route, q.Query), q.ID)
	})
}
