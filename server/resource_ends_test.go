package server_test

import (
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"testing"
	"time"

	"github.com/gnocco-db/gnocco/cluster"
	"github.com/gnocco-db/gnocco/internal/client"
	"github.com/gnocco-db/gnocco/server"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

// Resources whose metrics are silent end, once, with any process holding their sacks or the index; those that ended
// long ago are deleted.
func TestSilentResourcesEnd(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	options := server.Options{Cluster: cluster.Options{Data: data, Sacks: 8, ResourceAges: cluster.ResourceAges{
		MetricInactiveAfter: time.Second, ResourceCleanupAfter: 500 * 24 * time.Hour}}}
	first, second := start(t, options), start(t, options)
	defer stop(t, second)
	c := clientOf(t, second)
	do := func(method, path string, body, answer any) {
		t.Helper()
		fatal.If(t, c.Do(t.Context(), method, path, body, answer))
	}
	do(http.MethodPost, "/v1/archive_policy",
		map[string]any{"name": "p", "definition": []map[string]any{{"granularity": 86400}}}, nil)
	// A measure of the next block is new for a day; one of 2100 is ahead, and counts only where it is the only one.
	const past, ahead = "2023-01-01T00:00:00", "2100-01-01T00:00:00"
	future := time.Now().UTC().Add(24 * time.Hour).Format(time.RFC3339)
	// create makes a resource with as many metrics as it gets measures.
	create := func(id, end string, measures ...string) {
		t.Helper()
		metrics, batch := map[string]any{}, map[string]any{}
		for i, at := range measures {
			name := fmt.Sprint("m", i)
			metrics[name] = map[string]any{"archive_policy_name": "p"}
			if at != "" {
				batch[name] = []map[string]any{{"timestamp": at, "value": 1}}
			}
		}
		resource := map[string]any{"id": id, "metrics": metrics, "started_at": "2022-01-01"}
		if end != "" {
			resource["ended_at"] = end
		}
		do(http.MethodPost, "/v1/resource/generic", resource, nil)
		if len(batch) > 0 {
			do(http.MethodPost, "/v1/batch/resources/metrics/measures", map[string]any{id: batch}, nil)
		}
	}
	type state struct {
		Ended   *string           `json:"ended_at"`
		Metrics map[string]string `json:"metrics"`
	}
	// await waits for a change that comes by itself.
	await := func(what string, is func() bool) {
		t.Helper()
		for deadline := time.Now().Add(2 * time.Minute); !is(); time.Sleep(20 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("%s: not after two minutes", what)
			}
		}
	}
	get := func(id string) (s state) {
		t.Helper()
		await(id+" is shown", func() bool {
			return c.Do(t.Context(), http.MethodGet, "/v1/resource/generic/"+id, nil, &s) == nil
		})
		return s
	}
	ended := func(id string) func() bool { return func() bool { return get(id).Ended != nil } }
	revisions := func(id string, want int) {
		t.Helper()
		var history []any
		if do(http.MethodGet, "/v1/resource/generic/"+id+"/history", nil, &history); len(history) != want {
			t.Errorf("%s has %d revisions, want %d", id, len(history), want)
		}
	}

	create("without-metrics", "")
	var metric struct{ ID string }
	do(http.MethodPost, "/v1/metric", map[string]any{"archive_policy_name": "p"}, &metric)
	do(http.MethodPost, "/v1/metric/"+metric.ID+"/measures", []map[string]any{{"timestamp": ahead, "value": 1}}, nil)
	do(http.MethodGet, "/v1/metric/"+metric.ID+"/measures?refresh=true", nil, nil)
	do(http.MethodPost, "/v1/resource/generic", map[string]any{"id": "alive", "metrics": map[string]any{
		"m0": metric.ID, "m1": map[string]any{"archive_policy_name": "p"}}}, nil)
	create("expired", "2023-06-01", "") // which may be deleted at once
	create("ended", "2099-01-01", past)
	expired := get("ended").Metrics["m0"]
	create("silent", "", past, past, past, past, past, past, past, past)
	create("unmeasured", "", "")
	await("silent ends", ended("silent"))
	await("unmeasured ends", ended("unmeasured"))
	for _, id := range []string{"silent", "unmeasured"} { // not at once: measures may yet come
		var history []struct {
			Since time.Time  `json:"revision_start"`
			Ended *time.Time `json:"ended_at"`
		}
		do(http.MethodGet, "/v1/resource/generic/"+id+"/history?sort=revision_start:asc", nil, &history)
		if last := history[len(history)-1].Ended; last == nil || last.Sub(history[0].Since) < time.Second {
			t.Errorf("%s began at %v and ended at %v", id, history[0].Since, last)
		}
	}
	await("expired is deleted", func() bool {
		var status *client.StatusError
		return errors.As(c.Do(t.Context(), http.MethodGet, "/v1/resource/generic/expired", nil, nil), &status) &&
			status.Status == http.StatusNotFound
	})
	do(http.MethodGet, "/v1/metric/"+expired, nil, nil) // of the one that ends later
	for _, id := range []string{"without-metrics", "alive"} {
		if ended(id)() {
			t.Errorf("%s has ended", id)
		}
		revisions(id, 1)
	}
	revisions("ended", 1)
	revisions("silent", 2)
	await("silent is revived", func() bool { // by some measure: workers of another process may hear late that it ended
		do(http.MethodPost, "/v1/batch/resources/metrics/measures", map[string]any{"silent": map[string]any{
			"m3": []map[string]any{{"timestamp": future, "value": 1}}}}, nil)
		return get("silent").Ended == nil
	})
	revisions("silent", 3)

	stop(t, first) // the index has another holder
	await("the index is held again", func() bool {
		return c.Do(t.Context(), http.MethodGet, "/v1/metric", nil, nil) == nil
	})
	create("later", "", past)
	await("later ends", ended("later"))
	if ended("alive")() || ended("silent")() {
		t.Error("what is measured has ended")
	}
	revisions("later", 2)
}
