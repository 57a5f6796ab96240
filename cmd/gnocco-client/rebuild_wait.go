package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/cmd/gnocco-client/series"
	"github.com/gnocco-db/gnocco/cmd/shared/progress"
	"github.com/gnocco-db/gnocco/cmd/shared/table"
	"github.com/gnocco-db/gnocco/internal/client"
	"github.com/gnocco-db/gnocco/internal/counted"
	"github.com/gnocco-db/gnocco/internal/pause"
	"github.com/gnocco-db/gnocco/model"
)

// rebuild is one as the server tells it.
type rebuild struct {
	ID                                  uuid.UUID
	ArchivePolicy                       *string `json:"archive_policy_name"`
	Metric                              *string `json:"metric_id"`
	State                               model.RebuildState
	Started                             string `json:"started_at"`
	Metrics, Changed, Unchanged, Failed int
	Error                               *string
	Unknown                             *struct {
		Archives, Groups int
		From, To         string
	}
}

// shownState is the state, of a plan with its archive policy and time.
func (r *rebuild) shownState() string {
	if r.State == model.RebuildPlanned && r.ArchivePolicy != nil {
		at, _, _ := strings.Cut(strings.TrimSuffix(r.Started, "Z"), ".")
		return fmt.Sprintf("planned for %sZ: %s", at, *r.ArchivePolicy)
	}
	return string(r.State)
}

func (r *rebuild) done() int { return r.Changed + r.Unchanged + r.Failed }

// of names what it is about.
func (r *rebuild) of() string {
	if r.Metric != nil {
		return "metric " + *r.Metric
	}
	if r.ArchivePolicy != nil {
		return "archive policy " + *r.ArchivePolicy
	}
	return r.ID.String()
}

// namedAtOnce is how many metrics a request names by their IDs.
const namedAtOnce = 100

// listRebuilds returns all rebuilds, with the names of metrics in place of their IDs.
func listRebuilds(ctx context.Context, c *client.Client) (all []rebuild, err error) {
	if err := c.Do(ctx, http.MethodGet, "/v1/rebuild", nil, &all); err != nil {
		return nil, err
	}
	of := make(map[string]*rebuild)
	for i := range all {
		if id := all[i].Metric; id != nil {
			of[*id] = &all[i]
		}
	}
	for ids := range slices.Chunk(slices.Collect(maps.Keys(of)), namedAtOnce) {
		found, err := series.Matching(ctx, c, `{metric_id=~"`+strings.Join(ids, "|")+`"}`)
		if err != nil {
			return nil, err
		}
		for _, s := range found {
			of[s.ID].Metric = new(s.String())
		}
	}
	return all, nil
}

func writeRebuilds(ctx context.Context, c *client.Client, out io.Writer) error {
	jobs, err := listRebuilds(ctx, c)
	if err != nil {
		return err
	}
	t := &table.Table{Columns: []string{"of", "state", "metrics", "changed", "unchanged", "failed"}}
	for _, r := range jobs {
		t.Add(r.of(), r.shownState(), r.Metrics, r.Changed, r.Unchanged, r.Failed)
	}
	return t.Write(out, "table")
}

// lookInterval is how often the server is asked how far it is.
const lookInterval = 200 * time.Millisecond

// waitForRebuild shows how far the one of a subject is until it has ended.
func waitForRebuild(ctx context.Context, c *client.Client, id uuid.UUID, subject string, stderr io.Writer) error {
	var meter *progress.Meter
	for {
		var r rebuild
		err := c.Do(ctx, http.MethodGet, "/v1/rebuild/"+id.String(), nil, &r)
		if status, ok := errors.AsType[*client.StatusError](err); ok && status.Status == http.StatusNotFound {
			fmt.Fprintln(stderr, "archives stay as they are")
			return nil
		}
		if err != nil {
			return err
		}
		switch {
		case r.State != model.RebuildRunning:
			if meter != nil {
				meter.Close()
			}
			return r.conclude(subject, stderr)
		case meter == nil && r.Metrics > 0:
			meter = progress.NewMeter(stderr, "rebuilt", "metrics", int64(r.Metrics))
		case meter != nil:
			meter.Set(int64(min(r.done(), r.Metrics)))
		}
		if err := pause.For(ctx, lookInterval); err != nil {
			return err
		}
	}
}

// conclude tells how it has ended.
func (r *rebuild) conclude(subject string, stderr io.Writer) error {
	fmt.Fprintf(stderr, "%s: %s; %s changed, %d unchanged, %d failed\n",
		subject, r.State, counted.Of(r.Changed, "archive"), r.Unchanged, r.Failed)
	if u := r.Unknown; u != nil {
		fmt.Fprintf(stderr, "unknown: %s of %s, between %s and %s, without a method of the archive policy as before\n",
			counted.Of(u.Groups, "group"), counted.Of(u.Archives, "archive"), u.From, u.To)
	}
	if r.Failed > 0 {
		fault := ""
		if r.Error != nil {
			fault = ": " + *r.Error
		}
		return rejected{fmt.Errorf("%s could not be changed%s", counted.Of(r.Failed, "archive"), fault)}
	}
	return nil
}
