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

	"gnocco/internal/client"
)

// What OpenStack's services of 2026 send to Aetos, or to a Prometheus, is answered: by Aetos itself, by Aodh's alarms of type "prometheus" and
// the command "openstack metric" (python-observabilityclient), and by CloudKitty's collector for Aetos. Debian 12 has none of them, so
// these are their requests, made by hand: a token of Keystone, parameters in the URL, projects in single quotes.
func TestAetos(t *testing.T) {
	s := newSite(t, "keystone")
	c, err := client.New(s.URL(), client.Options{Token: token})
	check(t, err)
	do := func(method, path string, body any) {
		t.Helper()
		check(t, c.Do(t.Context(), method, path, body, nil))
	}
	do(http.MethodPost, "/v1/archive_policy", map[string]any{"name": "minutes", "aggregation_methods": []string{"mean", "sum", "max", "last"},
		"definition": []map[string]any{{"granularity": 60}}})
	then := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	measures := func(times ...time.Time) (list []map[string]any) {
		for i, at := range times {
			list = append(list, map[string]any{"timestamp": at.Format(time.RFC3339Nano), "value": i + 1})
		}
		return list
	}
	for id, project := range map[string]string{"web": "a", "db": "b"} {
		do(http.MethodPost, "/v1/resource/generic", map[string]any{"id": id, "project_id": project, "metrics": map[string]any{
			"ceilometer_cpu":   map[string]any{"archive_policy_name": "minutes"},
			"ceilometer_power": map[string]any{"archive_policy_name": "minutes"}}})
		metric := "/v1/resource/generic/" + id + "/metric/"
		do(http.MethodPost, metric+"ceilometer_cpu/measures", measures(then, then.Add(10*time.Minute), then.Add(30*time.Minute)))
		do(http.MethodPost, metric+"ceilometer_power/measures", measures(time.Now()))
		for _, name := range []string{"ceilometer_cpu", "ceilometer_power"} {
			do(http.MethodGet, metric+name+"/measures?refresh=true", nil)
		}
	}

	send := func(method, path string, query ...string) (status int, text string) {
		t.Helper()
		values := url.Values{}
		for i := 0; i < len(query); i += 2 {
			values.Add(query[i], query[i+1])
		}
		r, err := http.NewRequestWithContext(t.Context(), method, s.URL()+"/api/v1/"+path+"?"+values.Encode(), nil)
		check(t, err)
		r.Header.Set("X-Auth-Token", token)
		r.Header.Set("Accept", "application/json")
		r.Header.Set("Accept-Encoding", "identity")
		response, err := http.DefaultClient.Do(r)
		check(t, err)
		defer response.Body.Close()
		body, err := io.ReadAll(response.Body)
		check(t, err)
		return response.StatusCode, string(body)
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
		check(t, json.Unmarshal(get("query", query...), &vector))
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

	// Aodh, which takes names from the values of __name__ and adds the project's label: its setting prometheus_project_label_name has to be
	// project_id.
	list(`["ceilometer_cpu","ceilometer_power"]`, "label/__name__/values")
	ask("a 1", "query", "ceilometer_power{project_id='a'}")
	ask("a 1, b 1", "query", "ceilometer_power")
	ask(" 2", "query", "sum(ceilometer_power{resource_type=\"generic\", project_id=~'a|b'})")
	ask("", "query", "ceilometer_power{project_id='c'}") // insufficient data
	ask("", "query", "lode{project_id='a'}")
	ask("a 1", "query", "last_over_time(ceilometer_power{project_id='a'}[5m])")
	// CloudKitty, and its fetcher.
	at := then.Add(time.Hour).Format("2006-01-02T15:04:05+00:00")
	ask("a 6", "query", `sum(sum_over_time(ceilometer_cpu{project_id="a"}[3600s])) by (resource_type, project_id)`, "time", at)
	ask("a 3", "query", `max(max_over_time(ceilometer_cpu{project_id="a"}[3600s])) by (project_id)`, "time", at, "timeout", "30s")
	ask("a 1, b 1", "query", "max(ceilometer_power) by (project_id)")
	ask("b 1", "query", `max(ceilometer_power{resource_type="generic", project_id="b"}) by (project_id)`)
	// Aetos.
	list(`["a"]`, "label/project_id/values", "match[]", "{project_id='a'}")
	list(`["__name__","project_id","resource_id","resource_type"]`, "labels", "match[]", "ceilometer_cpu{project_id='a'}", "match[]", "{project_id='b'}")
	list(`["__name__","project_id","resource_id","resource_type"]`, "labels")
	var series []map[string]string
	check(t, json.Unmarshal(get("series", "match[]", "{project_id='a'}"), &series))
	slices.SortFunc(series, func(a, b map[string]string) int { return strings.Compare(a["__name__"], b["__name__"]) })
	if len(series) != 2 || series[0]["__name__"] != "ceilometer_cpu" || series[1]["project_id"] != "a" {
		t.Errorf("series: %v", series)
	}
	list(`{"activeTargets":[],"droppedTargets":[]}`, "targets", "state", "active")
	var info map[string]any
	check(t, json.Unmarshal(get("status/runtimeinfo"), &info))
	if len(info) == 0 {
		t.Error("no runtimeinfo")
	}

	// What they pass on as an error: an expression that is none, series without a selector, and deletion, which we do not do.
	refused := func(path string, query ...string) {
		t.Helper()
		status, text := send(http.MethodGet, path, query...)
		var answer struct{ Status, Error string }
		if json.Unmarshal([]byte(text), &answer) != nil || status != http.StatusBadRequest || answer.Status != "error" || answer.Error == "" {
			t.Errorf("%s %q: %d %s, want 400", path, query, status, text)
		}
	}
	refused("query", "query", "sum(")
	refused("series")
	for _, task := range []string{"delete_series", "clean_tombstones", "snapshot"} {
		if status, text := send(http.MethodPost, "admin/tsdb/"+task, "match[]", "ceilometer_cpu"); status != http.StatusNotFound {
			t.Errorf("%s: %d %s, want 404", task, status, text)
		}
	}
}
