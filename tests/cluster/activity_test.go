package cluster_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"
)

// The costs and the unread metrics of a cluster count the reads of every process.
func TestActivityOfAllProcesses(t *testing.T) {
	data := t.TempDir()
	first := start(t, data, "api", "--access-log")
	second := start(t, data, "api", "--access-log")
	start(t, data, "metricd")
	metrics := newMetrics(t, first, 3)
	for i, p := range []*process{first, second} { // one of them answers without the index
		aggregates(t, p, metrics[i], "sum")
	}
	header := http.Header{"X-Request-Id": {"passed-on"},
		"Traceparent": {"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"}}
	for _, p := range []*process{first, second} { // one of them passes the request on
		if status, _, _, err := p.doWith(header.Clone(), http.MethodGet, "/v1/resource_type", ""); status != http.StatusOK {
			t.Fatal(status, err)
		}
	}
	lines := func() int {
		return strings.Count(first.log.String()+second.log.String(), "id=passed-on ")
	}
	for deadline := time.Now().Add(patience); lines() < 3 && time.Now().Before(deadline); {
		time.Sleep(10 * time.Millisecond) // a request is logged after its answer
	}
	if traced := strings.Count(first.log.String()+second.log.String(), "trace=0af7651916cd43dd8448eb211c80319c"); traced != 3 {
		t.Errorf("%d of %d lines have the trace, not 3", traced, lines())
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
