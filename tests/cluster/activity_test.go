package cluster_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
)

// The costs and the unread metrics of a cluster count the reads of every process.
func TestActivityOfAllProcesses(t *testing.T) {
	data := t.TempDir()
	first := start(t, data, "api")
	second := start(t, data, "api")
	start(t, data, "metricd")
	metrics := newMetrics(t, first, 3)
	for i, p := range []*process{first, second} { // one of them answers without the index
		aggregates(t, p, metrics[i], "sum")
	}
	for _, p := range []*process{first, second} {
		var costs struct {
			Queries []struct{ Query string }
		}
		var unread struct {
			Metrics, Unread int
			List            []struct{ ID string }
		}
		for path, answer := range map[string]any{"/v1/queries/costs": &costs, "/v1/queries/unread": &unread} {
			if err := json.Unmarshal(p.mustDo(http.MethodGet, path, "", http.StatusOK), answer); err != nil {
				t.Fatal(err)
			}
		}
		for _, metric := range metrics[:2] {
			found := false
			for _, q := range costs.Queries {
				found = found || strings.Contains(q.Query, metric)
			}
			if !found {
				t.Errorf("no process says that %s was read", metric)
			}
		}
		if unread.Metrics != 3 || unread.Unread != 1 || unread.List[0].ID != metrics[2] {
			t.Errorf("unread: %+v", unread)
		}
	}
}
