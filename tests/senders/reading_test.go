package senders_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os/exec"
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	promapi "github.com/prometheus/client_golang/api"
	prometheus "github.com/prometheus/client_golang/api/prometheus/v1"
	"github.com/prometheus/common/model"

	"github.com/gnocco-db/gnocco/internal/client"
	"github.com/gnocco-db/gnocco/server"
)

// measuredAt is when the measures of filled begin: two minutes, one a second.
var measuredAt = time.Date(2026, 1, 2, 3, 0, 0, 0, time.UTC)

// filled is a server with a resource, host1, and its metrics load, which goes up by one a second, and size, which is 4.
func filled(t *testing.T) *server.Server {
	t.Helper()
	s, c := start(t, nil)
	var load, size []map[string]any
	for i := range 120 {
		at := measuredAt.Add(time.Duration(i) * time.Second).Format(time.RFC3339)
		load = append(load, map[string]any{"timestamp": at, "value": i + 1})
		size = append(size, map[string]any{"timestamp": at, "value": 4})
	}
	send(t, c, map[string]any{"load": load, "size": size})
	eventually(t, func() string {
		return awaits(query(t, s.URL(), "count(load) + sum(size)", measuredAt.Add(2*time.Minute)), "5")
	})
	return s
}

// send sends measures of host1's metrics.
func send(t *testing.T, c *client.Client, metrics map[string]any) {
	t.Helper()
	id, err := c.EnsureResource(t.Context(), "host1")
	check(t, err)
	check(t, c.Do(t.Context(), http.MethodPost, "/v1/batch/resources/metrics/measures?create_metrics=true",
		map[string]any{id: metrics}, nil))
}

// query returns the values that a query has at a time, by their labels.
func query(t *testing.T, server, expr string, at time.Time) map[string]string {
	t.Helper()
	var answer struct {
		Data struct {
			Result []struct {
				Metric model.Metric
				Value  [2]any
			}
		}
	}
	asked := url.Values{"query": {expr}, "time": {fmt.Sprint(float64(at.UnixMilli()) / 1000)}}
	check(t, json.Unmarshal(get(t, server+"/api/v1/query?"+asked.Encode()), &answer))
	values := make(map[string]string)
	for _, r := range answer.Data.Result {
		values[r.Metric.String()] = fmt.Sprint(r.Value[1])
	}
	return values
}

// awaits says what there is instead of one series of a value; "" if that is there.
func awaits(values map[string]string, want string) string {
	for _, value := range values {
		if len(values) == 1 && value == want {
			return ""
		}
	}
	return fmt.Sprintf("%v, want %s", values, want)
}

// eventually waits until nothing is wrong any more.
func eventually(t *testing.T, wrong func() string) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		text := wrong()
		if text == "" {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal(text)
		}
	}
}

// promtool asks all that it knows to ask.
func TestPromtool(t *testing.T) {
	program := installed(t, "promtool")
	t.Parallel()
	s := filled(t)
	address := strings.Replace(s.URL(), "http://", "http://admin:unused@", 1)
	f := func(want string, args ...string) {
		t.Helper()
		out, err := exec.Command(program, append([]string{"query"}, args...)...).CombinedOutput()
		if err != nil || strings.TrimSpace(string(out)) != want {
			t.Errorf("promtool query %q: %v\n%s\nwant\n%s", args, err, out, want)
		}
	}
	at, end := fmt.Sprint(measuredAt.Unix()+60), fmt.Sprint(measuredAt.Unix()+120)
	f("{} => 244 @[1767322860]", "instant", "--time="+at, address, "sum(load * size)")
	f("{} =>\n61 @[1767322860]\n91 @[1767322890]\n120 @[1767322920]", "range", "--start="+at, "--end="+end,
		"--step=30s", address, "sum(load)")
	f("generic", "labels", address, "resource_type")
	f("load\nsize", "labels", address, "__name__")
	out, err := exec.Command(program, "query", "series", "--match=load", "--start="+at, "--end="+end,
		address).CombinedOutput()
	if err != nil || !strings.Contains(string(out), `__name__="load"`) || strings.Count(string(out), "\n") != 1 {
		t.Errorf("%v: %s", err, out)
	}
}

type basicAuth struct{}

// RoundTrip implements http.RoundTripper.
func (basicAuth) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.SetBasicAuth("admin", "")
	return http.DefaultTransport.RoundTrip(r)
}

// Prometheus' own client understands every answer. It reports unknown things as not found.
func TestPrometheusClient(t *testing.T) {
	t.Parallel()
	s := filled(t)
	connection, err := promapi.NewClient(promapi.Config{Address: s.URL(), RoundTripper: basicAuth{}})
	check(t, err)
	api := prometheus.NewAPI(connection)
	ctx := t.Context()
	from, to := measuredAt, measuredAt.Add(2*time.Minute)
	want := func(got any, err error, want string) {
		t.Helper()
		if text := fmt.Sprint(got); err != nil || text != want {
			t.Errorf("got %s, %v, want %s", text, err, want)
		}
	}
	value, warnings, infos, err := api.Query(ctx, "sum(load)", to, prometheus.WithTimeout(time.Minute),
		prometheus.WithLimit(3))
	want(value, err, "{} => 120 @[1767322920]")
	want(fmt.Sprint(warnings, infos), nil, "[] []")
	value, _, _, err = api.Query(ctx, "1 + 1", to)
	want(value, err, "scalar: 2 @[1767322920]")
	value, _, _, err = api.QueryRange(ctx, "sum(load)", prometheus.Range{Start: from, End: to, Step: time.Minute})
	want(value, err, "{} =>\n1 @[1767322800]\n61 @[1767322860]\n120 @[1767322920]")
	names, _, _, err := api.LabelNames(ctx, []string{"load"}, from, to)
	if err != nil || !slices.Contains(names, "resource_id") {
		t.Errorf("%v, %v", names, err)
	}
	values, _, _, err := api.LabelValues(ctx, "__name__", nil, from, to)
	want(values, err, "[load size]")
	series, _, _, err := api.Series(ctx, []string{`{__name__="load"}`}, from, to)
	if err != nil || len(series) != 1 || series[0]["resource_type"] != "generic" {
		t.Errorf("%v, %v", series, err)
	}
	exemplars, err := api.QueryExemplars(ctx, "load", from, to)
	want(len(exemplars), err, "0")
	build, err := api.Buildinfo(ctx)
	if err != nil || !strings.HasPrefix(build.Version, "3.") {
		t.Errorf("%v, %v", build, err)
	}
	_, err = api.Runtimeinfo(ctx)
	check(t, err)
	rules, err := api.Rules(ctx, nil)
	want(len(rules.Groups), err, "0")
	alerts, err := api.Alerts(ctx)
	want(len(alerts.Alerts), err, "0")
	targets, err := api.Targets(ctx)
	want(len(targets.Active)+len(targets.Dropped), err, "0")
	_, err = api.Metadata(ctx, "", "10")
	check(t, err)
	status, err := api.TSDB(ctx)
	want(status.HeadStats.NumSeries, err, "2")
	text, err := api.FormatQuery(ctx, "sum( load )by(x)")
	want(text, err, `"sum by (x) (load)"`)
	_, _, _, err = api.Query(ctx, "sum(", to)
	if e, ok := err.(*prometheus.Error); !ok || e.Type != prometheus.ErrBadData {
		t.Errorf("%v, want bad_data", err)
	}
	for name, call := range map[string]func() error{
		"alertmanagers": func() error { _, err := api.AlertManagers(ctx); return err },
		"config":        func() error { _, err := api.Config(ctx); return err },
		"flags":         func() error { _, err := api.Flags(ctx); return err },
		"walreplay":     func() error { _, err := api.WalReplay(ctx); return err },
	} {
		if err := call(); err == nil || !strings.Contains(err.Error(), "404") {
			t.Errorf("%s: %v, want 404", name, err)
		}
	}
	check(t, api.DeleteSeries(ctx, []string{"load"}, from, to.Add(time.Hour)))
	value, _, _, err = api.Query(ctx, "count(load) or count(size)", to)
	want(value, err, "{} => 1 @[1767322920]")
}

// The requests of Grafana's stock data source, one by one.
func TestGrafanaDataSource(t *testing.T) {
	t.Parallel()
	s := filled(t)
	ask := func(method, path string, form url.Values) string {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		address, body := s.URL()+"/"+path, ""
		if method == http.MethodPost {
			body = form.Encode()
		} else if len(form) > 0 {
			address += "?" + form.Encode()
		}
		r, err := http.NewRequestWithContext(ctx, method, address, strings.NewReader(body))
		check(t, err)
		r.SetBasicAuth("admin", "")
		r.Header.Set("User-Agent", "Grafana/12.0.0")
		if method == http.MethodPost {
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		}
		answer, err := http.DefaultClient.Do(r)
		check(t, err)
		defer answer.Body.Close()
		var read struct {
			Status string
			Data   json.RawMessage
		}
		check(t, json.NewDecoder(answer.Body).Decode(&read))
		if answer.StatusCode != http.StatusOK || read.Status != "success" {
			t.Fatalf("%s %s: %s: %s", method, path, answer.Status, read.Data)
		}
		return string(read.Data)
	}
	begin, end := fmt.Sprint(measuredAt.Unix()), fmt.Sprint(measuredAt.Unix()+120)
	times := func(more ...string) url.Values {
		v := url.Values{"start": {begin}, "end": {end}}
		for i := 0; i < len(more); i += 2 {
			v.Set(more[i], more[i+1])
		}
		return v
	}
	want := func(got, want string) {
		t.Helper()
		if got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	has := func(got string, parts ...string) {
		t.Helper()
		for _, part := range parts {
			if !strings.Contains(got, part) {
				t.Errorf("%s has no %s", got, part)
			}
		}
	}
	// The button that tests the data source.
	want(ask("POST", "api/v1/query", url.Values{"query": {"1+1"}, "time": {"4"}}),
		`{"resultType":"scalar","result":[4,"2"]}`)
	has(ask("GET", "api/v1/status/buildinfo", nil), `"version":"3.`)
	// A panel, and its table.
	has(ask("POST", "api/v1/query_range", times("query", "sum(load)", "step", "60")), `"matrix"`, `[1767322860,"61"]`)
	has(ask("POST", "api/v1/query", url.Values{"query": {"sum(load)"}, "time": {end}}), `[1767322920,"120"]`)
	want(ask("POST", "api/v1/query_exemplars", times("query", "load")), "[]")
	// The query builder, and variables of dashboards.
	for _, method := range []string{"GET", "POST"} {
		has(ask(method, "api/v1/labels", times("match[]", "load", "limit", "40000")), `"resource_id"`)
		has(ask(method, "api/v1/series", times("match[]", `{__name__!=""}`, "limit", "40000")), `"load"`, `"size"`)
	}
	want(ask("GET", "api/v1/label/__name__/values", times("limit", "40000")), `["load","size"]`)
	want(ask("GET", "api/v1/label/resource_type/values", times("match[]", "load")), `["generic"]`)
	ask("GET", "api/v1/metadata", url.Values{"limit": {"40000"}})
	want(ask("GET", "api/v1/rules", nil), `{"groups": []}`)
	want(ask("GET", "api/v1/format_query", url.Values{"query": {"sum( load )"}}), `"sum(load)"`)
	has(ask("GET", "api/v1/parse_query", url.Values{"query": {"sum(load)"}}), `"aggregation"`)
}

// vmalert evaluates rules over the server. An alert fires and resolves at Alertmanager, and what a rule records reads
// back.
func TestRules(t *testing.T) {
	vmalert, alertmanager := installed(t, "vmalert"), installed(t, "prometheus-alertmanager")
	t.Parallel()
	s, c := start(t, nil)
	alerts, web := freeAddress(t), freeAddress(t)
	folder := t.TempDir()
	launch(t, alertmanager, "--config.file="+write(t, "alertmanager.yml",
		"route: {receiver: nobody}\nreceivers: [{name: nobody}]\n"),
		"--storage.path="+path.Join(folder, "alerts"), "--web.listen-address="+alerts, "--cluster.listen-address=")
	launch(t, vmalert, "-rule="+write(t, "rules.yml", `groups:
- name: load
  interval: 1s
  rules:
  - {alert: HighLoad, expr: "load > 5", labels: {severity: page}}
  - {record: "load:double", expr: "sum by (resource_type) (load) * 2"}
`), "-datasource.url="+s.URL(), "-datasource.basicAuth.username=admin", "-datasource.basicAuth.password=unused",
		"-remoteWrite.url="+s.URL(), "-remoteWrite.basicAuth.username=admin", "-remoteWrite.basicAuth.password=unused",
		"-remoteWrite.flushInterval=500ms", "-notifier.url=http://"+alerts, "-httpListenAddr="+web)
	load := func(value float64) {
		t.Helper()
		send(t, c,
			map[string]any{"load": []any{map[string]any{"timestamp": time.Now().UTC().Format(time.RFC3339Nano),
				"value": value}}})
	}
	firing := func() int {
		answer, err := http.Get("http://" + alerts + "/api/v2/alerts?active=true")
		if err != nil { // not listening yet
			return 0
		}
		defer answer.Body.Close()
		var list []struct{ Labels map[string]string }
		check(t, json.NewDecoder(answer.Body).Decode(&list))
		for _, alert := range list {
			if alert.Labels["alertname"] != "HighLoad" || alert.Labels["severity"] != "page" ||
				alert.Labels["resource_type"] != "generic" {
				t.Errorf("an alert with labels %v", alert.Labels)
			}
		}
		return len(list)
	}
	eventually(t, func() string {
		load(10)
		if n := firing(); n != 1 {
			return fmt.Sprintf("%d alerts fire", n)
		}
		return awaits(query(t, s.URL(), `load:double`, time.Now()), "20")
	})
	eventually(t, func() string {
		load(1)
		if n := firing(); n != 0 {
			return fmt.Sprintf("%d alerts fire", n)
		}
		return awaits(query(t, s.URL(), `load:double`, time.Now()), "2")
	})
}
