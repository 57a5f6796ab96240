package cluster_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
)

// Which processes hold what makes no difference to PromQL: two APIs and two metricds answer what one process answers
// that has it all.
func TestPromQLOfSeveralProcesses(t *testing.T) {
	data := t.TempDir()
	apis := []*process{start(t, data, "api"), start(t, data, "api")}
	workers := []*process{start(t, data, "metricd", "--listen", "127.0.0.1:0"),
		start(t, data, "metricd", "--listen", "127.0.0.1:0")}
	apis[0].mustDo(http.MethodPost, "/v1/archive_policy",
		`{"name": "p", "definition": [{"granularity": 1}, {"granularity": 60}],
		"aggregation_methods": ["mean", "std", "max", "last", "95pct"], "back_window": 1}`, http.StatusCreated)
	const resources, minutes = 12, 5
	batch := map[string]any{}
	for i := range resources {
		var made struct{ Metrics map[string]string }
		body := fmt.Sprintf(
			`{"id": "host%d", "project_id": "p%d", "metrics": {"used": {"archive_policy_name": "p"}, "total": {"archive_policy_name": "p"}}}`, i, i%3)
		if err := json.Unmarshal(apis[i%2].mustDo(http.MethodPost, "/v1/resource/generic", body, http.StatusCreated),
			&made); err != nil {
			t.Fatal(err)
		}
		for _, id := range made.Metrics {
			var list []map[string]any
			for second := 0; second < 60*minutes; second += 7 {
				list = append(list, map[string]any{"timestamp": firstSecond + second,
					"value": float64((second*(i+3))%101) / 4})
			}
			batch[id] = list
		}
	}
	body, err := json.Marshal(batch)
	if err != nil {
		t.Fatal(err)
	}
	apis[1].mustDo(http.MethodPost, "/v1/batch/metrics/measures", string(body), http.StatusAccepted)
	for _, id := range slices.Sorted(maps.Keys(batch)) {
		apis[0].mustDo(http.MethodGet, "/v1/metric/"+id+"/measures?refresh=true&limit=1", "", http.StatusOK)
	}
	answers := func(p *process) (all []string) {
		for _, expr := range []string{
			"used", "used / total", "sum by (project_id) (rate(used[1m]))",
			"avg by (project_id) (avg_over_time(total[1m]))",
			"stddev_over_time(used[2m])", "quantile_over_time(0.95, used[1m])",
			`max(used{__aggregation__="max",__granularity__="60"})`,
			`count({__name__=~"used|total"})`,
		} {
			query := url.Values{"query": {expr}, "start": {fmt.Sprint(firstSecond)},
				"end": {fmt.Sprint(firstSecond + 60*(minutes+4))}, "step": {"60"}}
			all = append(all, string(p.mustDo(http.MethodGet, "/api/v1/query_range?"+query.Encode(),
				"", http.StatusOK)))
		}
		for _, path := range []string{"labels", "label/project_id/values", "label/__name__/values",
			"series?match[]=used"} {
			var lists struct{ Data []any }
			if err := json.Unmarshal(p.mustDo(http.MethodGet, "/api/v1/"+path, "", http.StatusOK), &lists); err != nil {
				t.Fatal(err)
			}
			items := []string{}
			for _, item := range lists.Data {
				items = append(items, fmt.Sprint(item))
			}
			slices.Sort(items)
			all = append(all, fmt.Sprint(items))
		}
		return all
	}
	several := [][]string{answers(apis[0]), answers(apis[1])}
	for _, p := range slices.Concat(workers, apis) {
		p.stop()
	}
	alone := answers(start(t, data, "serve"))
	for i, want := range alone {
		if i < 8 && !strings.Contains(want, `"values"`) {
			t.Errorf("no series: %s", want)
		}
		for api, got := range several {
			if got[i] != want {
				t.Errorf("API %d: %s\none process: %s", api, got[i], want)
			}
		}
	}
}
