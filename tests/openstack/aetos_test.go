package openstack_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gnocco-db/gnocco/api"
	"github.com/gnocco-db/gnocco/internal/client"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

// The server answers the requests that OpenStack's services of 2026 send to Aetos, or to a Prometheus: requests of
// Aetos itself, of Aodh's alarms of type "prometheus", of the command "openstack metric" (python-observabilityclient),
// and of CloudKitty's collector for Aetos. Debian 12 has none of them, so these are their requests, made by hand: a
// token of Keystone, parameters in the URL, projects in single quotes.
func TestAetos(t *testing.T) {
	s := newSite(t, "keystone")
	c, err := client.New(s.URL(), client.Options{Token: token})
	fatal.If(t, err)
	do := func(method, path string, body any) {
		t.Helper()
		fatal.If(t, c.Do(t.Context(), method, path, body, nil))
	}
	do(http.MethodPost, "/v1/archive_policy",
		map[string]any{"name": "minutes", "aggregation_methods": []string{"mean", "sum", "max", "last"},
			"definition": []map[string]any{{"granularity": 60}}})
	then := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	measures := func(times ...time.Time) (list []map[string]any) {
		for i, at := range times {
			list = append(list, map[string]any{"timestamp": at.Format(time.RFC3339Nano), "value": i + 1})
		}
		return list
	}
	for id, project := range map[string]string{"web": "a", "db": "b"} {
		do(http.MethodPost, "/v1/resource/generic",
			map[string]any{"id": id, "project_id": project, "metrics": map[string]any{
				"ceilometer_cpu":   map[string]any{"archive_policy_name": "minutes"},
				"ceilometer_power": map[string]any{"archive_policy_name": "minutes"}}})
		metric := "/v1/resource/generic/" + id + "/metric/"
		do(http.MethodPost, metric+"ceilometer_cpu/measures",
			measures(then, then.Add(10*time.Minute), then.Add(30*time.Minute)))
		do(http.MethodPost, metric+"ceilometer_power/measures", measures(time.Now()))
		for _, name := range []string{"ceilometer_cpu", "ceilometer_power"} {
			do(http.MethodGet, metric+name+"/measures?refresh=true", nil)
		}
	}

	send := func(method, path string, query ...string) (status int, text string) {
		t.Helper()
		return s.send(t, method, path, query...)
	}
	get := func(path string, query ...string) (data json.RawMessage) {
		t.Helper()
		var answer struct {
			Status string
			Data   json.RawMessage
		}
		status, text := send(http.MethodGet, path, query...)
		if json.Unmarshal([]byte(text), &answer) != nil || status != http.StatusOK || answer.Status != "success" {
			t.Errorf("%s %q: %d %s", path, query, status, text)
		}
		return answer.Data
	}
	// ask wants the labels and values of a vector.
	ask := func(want string, query ...string) {
		t.Helper()
		var vector struct {
			ResultType string
			Result     []struct {
				Metric map[string]string
				Value  [2]any
			}
		}
		fatal.If(t, json.Unmarshal(get("query", query...), &vector))
		got := []string{}
		for _, r := range vector.Result {
			got = append(got, r.Metric["project_id"]+" "+r.Value[1].(string))
		}
		slices.Sort(got) // a vector has no order
		if text := strings.Join(got, ", "); text != want || vector.ResultType != "vector" {
			t.Errorf("%q: %s %q, want %q", query, vector.ResultType, text, want)
		}
	}
	list := func(want, path string, query ...string) {
		t.Helper()
		if got := string(get(path, query...)); got != want {
			t.Errorf("%s %q: %s, want %s", path, query, got, want)
		}
	}

	// Aodh, which takes names from the values of __name__ and adds the project's label: its setting
	// prometheus_project_label_name has to be project_id.
	list(`["ceilometer_cpu","ceilometer_power"]`, "label/__name__/values")
	ask("a 1", "query", "ceilometer_power{project_id='a'}")
	ask("a 1, b 1", "query", "ceilometer_power")
	ask(" 2", "query", "sum(ceilometer_power{resource_type=\"generic\", project_id=~'a|b'})")
	ask("", "query", "ceilometer_power{project_id='c'}") // insufficient data
	ask("", "query", "lode{project_id='a'}")
	ask("a 1", "query", "last_over_time(ceilometer_power{project_id='a'}[5m])")
	// CloudKitty, and its fetcher.
	at := then.Add(time.Hour).Format("2006-01-02T15:04:05+00:00")
	ask("a 6", "query", `sum(sum_over_time(ceilometer_cpu{project_id="a"}[3600s])) by (resource_type, project_id)`,
		"time", at)
	ask("a 3", "query", `max(max_over_time(ceilometer_cpu{project_id="a"}[3600s])) by (project_id)`, "time",
		at, "timeout", "30s")
	ask("a 1, b 1", "query", "max(ceilometer_power) by (project_id)")
	ask("b 1", "query", `max(ceilometer_power{resource_type="generic", project_id="b"}) by (project_id)`)
	// Aetos.
	list(`["a"]`, "label/project_id/values", "match[]", "{project_id='a'}")
	list(`["__name__","project_id","resource_id","resource_type"]`, "labels", "match[]",
		"ceilometer_cpu{project_id='a'}", "match[]", "{project_id='b'}")
	list(`["__name__","project_id","resource_id","resource_type"]`, "labels")
	var series []map[string]string
	fatal.If(t, json.Unmarshal(get("series", "match[]", "{project_id='a'}"), &series))
	slices.SortFunc(series, func(a, b map[string]string) int { return strings.Compare(a["__name__"], b["__name__"]) })
	if len(series) != 2 || series[0]["__name__"] != "ceilometer_cpu" || series[1]["project_id"] != "a" {
		t.Errorf("series: %v", series)
	}
	list(`{"activeTargets":[],"droppedTargets":[]}`, "targets", "state", "active")
	var info map[string]any
	fatal.If(t, json.Unmarshal(get("status/runtimeinfo"), &info))
	if len(info) == 0 {
		t.Error("no runtimeinfo")
	}

	// They pass these on as errors: an invalid expression, series without a selector, and what we do not offer.
	refused := func(path string, query ...string) {
		t.Helper()
		status, text := send(http.MethodGet, path, query...)
		var answer struct{ Status, Error string }
		if json.Unmarshal([]byte(text), &answer) != nil || status != http.StatusBadRequest ||
			answer.Status != "error" || answer.Error == "" {
			t.Errorf("%s %q: %d %s, want 400", path, query, status, text)
		}
	}
	refused("query", "query", "sum(")
	refused("series")
	for _, task := range []string{"clean_tombstones", "snapshot"} {
		if status, text := send(http.MethodPost, "admin/tsdb/"+task, "match[]",
			"ceilometer_cpu"); status != http.StatusNotFound {
			t.Errorf("%s: %d %s, want 404", task, status, text)
		}
	}
}

// send sends a request of Prometheus' API, by a token, and returns what comes back.
func (s *site) send(t *testing.T, method, path string, query ...string) (status int, text string) {
	t.Helper()
	values := url.Values{}
	for i := 0; i < len(query); i += 2 {
		values.Add(query[i], query[i+1])
	}
	r, err := http.NewRequestWithContext(t.Context(), method, s.URL()+"/api/v1/"+path+"?"+values.Encode(), nil)
	fatal.If(t, err)
	r.Header.Set("X-Auth-Token", token)
	r.Header.Set("Accept", "application/json")
	r.Header.Set("Accept-Encoding", "identity")
	response, err := http.DefaultClient.Do(r)
	fatal.If(t, err)
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	fatal.If(t, err)
	return response.StatusCode, string(body)
}

// With --promql-names=ceilometer, services need no settings of ours: names and labels are those of Ceilometer's
// exporter for Prometheus. The requests are Watcher's (data sources prometheus and aetos), Aodh's of an autoscaling
// group, Aetos' with its own label, and Grafana's.
func TestCeilometerNames(t *testing.T) {
	s := newNamedSite(t, "keystone", api.CeilometerNames)
	c, err := client.New(s.URL(), client.Options{Token: token})
	fatal.If(t, err)
	do := func(method, path string, body any) {
		t.Helper()
		fatal.If(t, c.Do(t.Context(), method, path, body, nil))
	}
	type object = map[string]any
	do(http.MethodPost, "/v1/archive_policy",
		object{"name": "minutes", "aggregation_methods": []string{"mean", "max", "last"},
			"definition": []object{{"granularity": 60}}})
	text := object{"type": "string", "required": false}
	do(http.MethodPost, "/v1/resource_type", object{"name": "instance",
		"attributes": object{"display_name": text, "host": text, "server_group": text}})
	then := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	at := then.Add(9 * time.Minute).Format(time.RFC3339)
	for id, project := range map[string]string{"6c0a1e5d-55e1-4b0c-8a61-6f3f3b7d9a01": "a",
		"6c0a1e5d-55e1-4b0c-8a61-6f3f3b7d9a02": "b"} {
		do(http.MethodPost, "/v1/resource/instance", object{"id": id, "project_id": project, "user_id": "u",
			"display_name": "vm of " + project, "host": "node1", "server_group": "group",
			"metrics": object{"cpu": object{"archive_policy_name": "minutes", "unit": "ns"},
				"memory.usage": object{"archive_policy_name": "minutes", "unit": "MB"}}})
		for _, name := range []string{"cpu", "memory.usage"} {
			var list []object
			for i := range 10 { // half a processor
				list = append(list,
					object{"timestamp": then.Add(time.Duration(i)*time.Minute + 30*time.Second).Format(time.RFC3339),
						"value": float64(i) * 30e9})
			}
			path := "/v1/resource/instance/" + id + "/metric/" + name + "/measures"
			do(http.MethodPost, path, list)
			do(http.MethodGet, path+"?refresh=true", nil)
		}
	}
	ask := func(want, path string, query ...string) {
		t.Helper()
		if status, got := s.send(t, http.MethodGet, path, query...); status != http.StatusOK ||
			!strings.Contains(got, want) {
			t.Errorf("%s %q: %d %s, want %s", path, query, status, got, want)
		}
	}
	const vm = "6c0a1e5d-55e1-4b0c-8a61-6f3f3b7d9a01"
	ask(`["ceilometer_cpu","ceilometer_memory_usage"]`, "label/__name__/values")
	ask(`"metric":{"resource":"`+vm+`"},"value":[1767269340,"50"]`, "query", "query",
		"clamp_max((avg by (resource)(rate(ceilometer_cpu{resource='"+vm+
			"'}[300s]))/10e+8) *(100/1.0), 100)", "time", at)
	ask(`"value":[1767269340,"180000000000"]`, "query", "query",
		"avg_over_time(ceilometer_memory_usage{resource='"+vm+"'}[300s])", "time", at)
	ask(`"value":[1767269340,"1"]`, "query", "query",
		`(rate(ceilometer_cpu{server_group="group",project="a"}[5m])) / 1000000000 > bool 0.4`, "time", at)
	ask(`["`+vm+`"]`, "label/resource/values", "match[]", "{project='a'}")
	ask(
		`"data":["__name__","counter","cpu","memory","project","publisher","resource","resource_name","server_group","type","unit","user","vm_instance"]`, "labels", "match[]", "{project='b'}")
	ask(`[{"__name__":"ceilometer_cpu","counter":"cpu","cpu":"`+vm+
		`","project":"a","publisher":"ceilometer","resource":"`+vm+
		`","resource_name":"vm of a","server_group":"group","type":"cpu","unit":"ns","user":"u","vm_instance":"node1"}]`, "series", "match[]", "ceilometer_cpu{project='a'}")
	ask(`"metric":{"project":"a"},"value":[1767269340,"240000000000"]`, "query", "query",
		`max by (project) (cpu{project_id="a",resource_type="instance"})`, "time", at)
	ask(
		`"resultType":"matrix","result":[{"metric":{},"values":[[1767269340,"480000000000"],[1767269400,"540000000000"]]}]`, "query_range", "query", `sum(ceilometer_cpu{resource_name=~"vm.*"})`,
		"start", "1767269340", "end", "1767269400", "step", "60")
	ask(`"data":{"ceilometer_cpu":[{"type":"counter","help":"","unit":"ns"}]`, "metadata", "metric", "ceilometer_cpu")
}
