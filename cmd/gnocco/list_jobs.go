package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"github.com/gnocco-db/gnocco/internal/client"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/query/activity"
)

// listJobs lists what a server has begun and not ended. Lists that the user may not see are left out.
func listJobs(ctx context.Context, c *client.Client, _ []string) (*table, error) {
	t := &table{columns: []string{"job", "state", "progress", "subject", "id"}}
	for _, add := range []func(context.Context, *client.Client, *table) error{addRebuilds, addChanges, addCorrelations,
		addQueries} {
		var answer *client.StatusError
		if err := add(ctx, c, t); err != nil && !(errors.As(err, &answer) && answer.Status == http.StatusForbidden) {
			return nil, err
		}
	}
	return t, nil
}

func addRebuilds(ctx context.Context, c *client.Client, t *table) error {
	all, err := listRebuilds(ctx, c)
	for _, r := range all {
		if r.State == model.RebuildRunning {
			t.add("rebuild", r.State, fmt.Sprintf("%d of %d metrics", r.done(), r.Metrics), r.of(), r.ID)
		}
	}
	return err
}

// addChanges adds deletions and corrections of measures.
func addChanges(ctx context.Context, c *client.Client, t *table) error {
	return eachRow(ctx, c, "/v1/ledger", url.Values{}, func(e ledgerEntry) (marker string) {
		if e.State == model.LedgerBegun.String() {
			t.add(e.Kind, e.State, fmt.Sprintf("%d metrics", e.Metrics), e.Selector, e.ID)
		}
		return e.ID
	})
}

func addCorrelations(ctx context.Context, c *client.Client, t *table) error {
	var all []struct {
		ID, State, Aggregation string
		Progress               float64
		Metrics                int
	}
	err := c.Do(ctx, "GET", "/v1/correlations", nil, &all)
	for _, job := range all {
		if job.State == "queued" || job.State == "running" {
			t.add("correlation", job.State, fmt.Sprintf("%.0f %%", 100*job.Progress),
				fmt.Sprintf("%s of %d metrics", job.Aggregation, job.Metrics), job.ID)
		}
	}
	return err
}

func addQueries(ctx context.Context, c *client.Client, t *table) error {
	return eachQuery(ctx, c, func(q activity.Running, state string) {
		t.add("query", state, fmt.Sprintf("%v s", seconds(q.Seconds)), queryText(q.Route, q.Query), q.ID)
	})
}
