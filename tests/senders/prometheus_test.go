package senders_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"gnocco/internal/client"
	"gnocco/internal/server"
)

// scraped is what Prometheus answers to a query of series.
type scraped struct {
	Data struct {
		Result []struct {
			Metric map[string]string
			Values [][2]any // seconds since 1970, value as text
		}
	}
}

// Prometheus scrapes itself and the server every second, and writes all of it to the server with all labels kept: each
// series has to read back equal to what Prometheus says it is.
func TestPrometheusWritesRemotely(t *testing.T) {
	if testing.Short() {
		t.Skip("takes half a minute")
	}
	program, err := exec.LookPath("prometheus")
	if err != nil {
		t.Skip("prometheus is not installed")
	}
	s, err := server.Start(t.Context(), server.Options{Data: filepath.Join(t.TempDir(), "data"), Listen: "127.0.0.1:0",
		SkipDefaultPolicies: true, PrometheusLabels: true, MinFreeBytes: 1 << 20})
	check(t, err)
	defer func() { check(t, s.Close(context.WithoutCancel(t.Context()))) }()
	c, err := client.New(s.URL(), "admin")
	check(t, err)
	check(t, c.Do(t.Context(), http.MethodPost, "/v1/archive_policy", map[string]any{"name": "second", "back_window": 60,
		"definition": []map[string]any{{"granularity": 1}}, "aggregation_methods": []string{"last"}}, nil))
	check(t, c.Do(t.Context(), http.MethodPost, "/v1/archive_policy_rule",
		map[string]any{"name": "all", "metric_pattern": "*", "archive_policy_name": "second"}, nil))

	source := startPrometheus(t, program, s.URL())
	time.Sleep(15 * time.Second)
	// Queues send after five seconds at the latest: what is older has to come soon.
	var series scraped
	query := url.Values{"query": {`{__name__=~".+"}[1m]`}, "time": {fmt.Sprint(time.Now().Unix() - 5)}}
	check(t, json.Unmarshal(get(t, source+"/api/v1/query?"+query.Encode()), &series))
	if len(series.Data.Result) < 100 {
		t.Fatalf("Prometheus has %d series only", len(series.Data.Result))
	}
	measures := 0
	for _, one := range series.Data.Result {
		path := "/v1/resource/prometheus/" + url.PathEscape(resourceOf(one.Metric)) + "/metric/" + one.Metric["__name__"] +
			"/measures?aggregation=last&refresh=true"
		for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(200 * time.Millisecond) {
			missing := differs(one.Values, get(t, s.URL()+path))
			if missing == "" {
				break
			}
			if time.Now().After(deadline) {
				t.Fatalf("%v: %s", one.Metric, missing)
			}
		}
		measures += len(one.Values)
	}
	t.Logf("%d measures of %d series are equal", measures, len(series.Data.Result))
}

// startPrometheus returns the URL of one that writes to target.
func startPrometheus(t *testing.T, program, target string) string {
	t.Helper()
	free, err := net.Listen("tcp", "127.0.0.1:0")
	check(t, err)
	address := free.Addr().String()
	check(t, free.Close())
	dir := t.TempDir()
	config := filepath.Join(dir, "prometheus.yml")
	check(t, os.WriteFile(config, fmt.Appendf(nil, `global: {scrape_interval: 1s}
scrape_configs:
- {job_name: prometheus, static_configs: [{targets: [%q]}]}
- {job_name: gnocco, static_configs: [{targets: [%q]}]}
remote_write:
- {url: %q, basic_auth: {username: admin, password: unused}}
`, address, strings.TrimPrefix(target, "http://"), target+"/v1/prometheus/write"), 0o600))
	cmd := exec.Command(program, "--config.file="+config, "--storage.tsdb.path="+filepath.Join(dir, "tsdb"), "--web.listen-address="+address)
	check(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	return "http://" + address
}

// resourceOf returns the ID of the resource that a series' labels name.
func resourceOf(labels map[string]string) string {
	escape := strings.NewReplacer("%", "%25", "/", "%2F", ",", "%2C", "=", "%3D").Replace
	id := escape(labels["job"]) + "@" + escape(labels["instance"])
	for _, name := range slices.Sorted(maps.Keys(labels)) {
		if name != "__name__" && name != "job" && name != "instance" {
			id += "," + name + "=" + escape(labels[name])
		}
	}
	return id
}

// differs tells which of a series' values the measures in body lack; "" if none. A second holds one of them.
func differs(values [][2]any, body []byte) string {
	var rows [][3]any
	text := strings.NewReplacer("-Infinity", `"-Inf"`, "Infinity", `"+Inf"`, "NaN", `"NaN"`).Replace(string(body))
	if err := json.Unmarshal([]byte(text), &rows); err != nil {
		return fmt.Sprintf("%s: %s", err, body)
	}
	got := map[string]float64{}
	for _, row := range rows {
		value, err := strconv.ParseFloat(fmt.Sprint(row[2]), 64)
		if err != nil {
			return err.Error()
		}
		got[row[0].(string)] = value
	}
	for _, value := range values {
		second := time.Unix(int64(value[0].(float64)), 0).UTC().Format("2006-01-02T15:04:05+00:00")
		want, err := strconv.ParseFloat(value[1].(string), 64)
		if err != nil {
			return err.Error()
		}
		if have, ok := got[second]; !ok || have != want && !(math.IsNaN(have) && math.IsNaN(want)) {
			return fmt.Sprintf("at %s: %v, want %v", second, have, want)
		}
	}
	return ""
}

// get returns the body of an answer; a resource that is not there yet has an empty list.
func get(t *testing.T, address string) []byte {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	check(t, err)
	r.SetBasicAuth("admin", "")
	answer, err := http.DefaultClient.Do(r)
	check(t, err)
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	check(t, err)
	if answer.StatusCode == http.StatusNotFound {
		return []byte("[]")
	}
	if answer.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s: %s", address, answer.Status, body)
	}
	return body
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
