package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"

	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/internal/client"
	"github.com/gnocco-db/gnocco/model"
)

// listedType is what a list of metrics says of one's type.
type listedType struct {
	ID        uuid.UUID
	Type      model.SeriesType
	TypeGuess model.SeriesType `json:"type_guess"`
	Name      string
}

func (m *listedType) shown() string { return cmp.Or(m.Name, m.ID.String()) }

// moveCounters gives the counters of an archive policy the policy NAME-counter, which also has increase and resets. It
// is created if it is not there.
func (flags *rebuildFlags) moveCounters(ctx context.Context, c *client.Client, out, stderr io.Writer) error {
	if flags.policy == "" || flags.metric != "" || flags.cancel {
		return errors.New("--counters needs --archive-policy, and neither --metric nor --cancel")
	}
	counters, all, err := countersOf(ctx, c, flags.policy)
	if err != nil {
		return err
	}
	to := flags.policy + "-counter"
	fmt.Fprintf(out, "%d of %d metrics are counters, for archive policy %s\n", len(counters), all, to)
	fmt.Fprintln(out, "increase and resets reach back as far as measures are kept, and where groups, or finer ones, have "+
		"one measure each, or two; --wait counts the groups that stay without them, and PromQL says so")
	if flags.preview || len(counters) == 0 {
		return nil
	}
	if err := ensureCounterPolicy(ctx, c, flags.policy, to); err != nil {
		return err
	}
	for _, m := range counters {
		path := "/v1/metric/" + m.ID.String()
		if err := c.Do(ctx, http.MethodPatch, path, map[string]string{"archive_policy_name": to}, nil); err != nil {
			return fmt.Errorf("metric %s: %w; the command can be repeated", m.shown(), err)
		}
	}
	if !flags.wait {
		return nil
	}
	var failed error
	for _, m := range counters {
		failed = errors.Join(failed, waitForRebuild(ctx, c, model.RebuildOfMetric(m.ID), "metric "+m.shown(), stderr))
	}
	return failed
}

// countersOf returns the metrics of an archive policy that grow, by their types or the guesses, and how many it has.
func countersOf(ctx context.Context, c *client.Client, policy string) (counters []listedType, all int, err error) {
	query := url.Values{"archive_policy_name": {policy}, "limit": {"1000"}}
	for {
		var page []listedType
		if err := c.Do(ctx, http.MethodGet, "/v1/metric?"+query.Encode(), nil, &page); err != nil {
			return nil, 0, err
		}
		if len(page) == 0 {
			return counters, all, nil
		}
		for _, m := range page {
			if m.Type.Grows() || m.TypeGuess.Grows() {
				counters = append(counters, m)
			}
		}
		all += len(page)
		query.Set("marker", page[len(page)-1].ID.String())
	}
}

// ensureCounterPolicy creates the archive policy of counters from another one.
func ensureCounterPolicy(ctx context.Context, c *client.Client, from, to string) error {
	var old struct {
		BackWindow int `json:"back_window"`
		Definition []struct {
			Granularity string `json:"granularity"`
			Points      *int64 `json:"points,omitempty"`
		} `json:"definition"`
		Methods []string `json:"aggregation_methods"`
	}
	if err := c.Do(ctx, http.MethodGet, "/v1/archive_policy/"+url.PathEscape(from), nil, &old); err != nil {
		return err
	}
	return c.EnsureArchivePolicy(ctx, to, map[string]any{"name": to, "back_window": old.BackWindow,
		"definition": old.Definition, "aggregation_methods": append(old.Methods, "increase", "resets")})
}
