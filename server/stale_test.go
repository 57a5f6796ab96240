package server_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/gnocco-db/gnocco/cluster"
	"github.com/gnocco-db/gnocco/server"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

// While no process holds the sacks, a client that allows stale answers reads the disk and learns its age; others get a
// 503. Once a process holds them, all clients read fresh aggregates.
func TestStaleReads(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	workers := func() *server.Server {
		return start(t, server.Options{Cluster: cluster.Options{Data: data, Role: cluster.RoleMetricd, Sacks: 4}})
	}
	apis := []*server.Server{start(t, server.Options{Cluster: cluster.Options{Data: data, Role: cluster.RoleAPI,
		Sacks: 4}}), start(t, server.Options{Cluster: cluster.Options{Data: data, Role: cluster.RoleAPI, Sacks: 4}})}
	for _, s := range apis {
		defer stop(t, s)
	}
	w := workers()
	c := clientOf(t, apis[0])
	do := func(method, path string, body, answer any) {
		t.Helper()
		fatal.If(t, c.Do(t.Context(), method, path, body, answer))
	}
	do(http.MethodPost, "/v1/archive_policy", map[string]any{"name": "p",
		"definition": []map[string]any{{"granularity": 60}}, "aggregation_methods": []string{"mean"}}, nil)
	var ids, means []string
	batch := map[string]any{}
	for range 40 { // in all sacks, most probably
		var metric struct{ ID string }
		do(http.MethodPost, "/v1/metric", map[string]any{"archive_policy_name": "p"}, &metric)
		ids, means = append(ids, metric.ID), append(means, fmt.Sprintf("(%s mean)", metric.ID))
		batch[metric.ID] = []map[string]any{{"timestamp": 1_700_000_000, "value": 7}}
	}
	do(http.MethodPost, "/v1/batch/metrics/measures", batch, nil)
	query := fmt.Sprintf(`{"operations": "(aggregate sum (metric %s))"}`, strings.Join(means, " "))
	ask := func(s *server.Server, method, path, body, cacheControl string) (status int, age string, answer any) {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), method, s.URL()+path, strings.NewReader(body))
		fatal.If(t, err)
		r.SetBasicAuth("admin", "")
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json")
		if cacheControl != "" {
			r.Header.Set("Cache-Control", cacheControl)
		}
		response, err := http.DefaultClient.Do(r)
		fatal.If(t, err)
		defer response.Body.Close()
		text, err := io.ReadAll(response.Body)
		if err == nil {
			err = json.Unmarshal(text, &answer)
		}
		if err != nil {
			t.Fatalf("%v: %s", err, text)
		}
		return response.StatusCode, response.Header.Get("Age"), answer
	}
	measures := "/v1/metric/" + ids[0] + "/measures"
	do(http.MethodGet, measures+"?refresh=true", nil, nil)
	for _, id := range ids {
		do(http.MethodGet, "/v1/metric/"+id+"/measures?refresh=true", nil, nil)
	}
	check := func(cacheControl string, wantStatus int, wantAge bool, wantOne, wantAll any) {
		t.Helper()
		for i, s := range apis {
			status, age, one := ask(s, http.MethodGet, measures, "", cacheControl)
			if status != wantStatus || (age != "") != wantAge ||
				wantStatus == http.StatusOK && !reflect.DeepEqual(one, wantOne) {
				t.Errorf("%s at %d: %d, age %q, %v; want %d, %v", cacheControl, i, status, age, one,
					wantStatus, wantOne)
			}
			status, age, all := ask(s, http.MethodPost, "/v1/aggregates", query, cacheControl)
			if status != wantStatus || (age != "") != wantAge ||
				wantStatus == http.StatusOK && !reflect.DeepEqual(all, wantAll) {
				t.Errorf("%s at %d: %d, age %q, %v; want %d, %v", cacheControl, i, status, age, all,
					wantStatus, wantAll)
			}
		}
	}
	_, _, one := ask(apis[0], http.MethodGet, measures, "", "")
	_, _, all := ask(apis[0], http.MethodPost, "/v1/aggregates", query, "")
	if rows, ok := one.([]any); !ok || len(rows) != 1 {
		t.Fatalf("%v", one)
	}
	check("max-stale", http.StatusOK, false, one, all)
	stop(t, w)
	check("max-stale", http.StatusOK, true, one, all)
	check("max-stale=3600", http.StatusOK, true, one, all)
	check("max-stale=0", http.StatusServiceUnavailable, false, nil, nil)
	if status, _, answer := ask(apis[0], http.MethodGet, measures, "", ""); status != http.StatusServiceUnavailable {
		t.Errorf("unasked: %d, %v", status, answer)
	}
	w = workers()
	defer stop(t, w)
	check("", http.StatusOK, false, one, all)
}
