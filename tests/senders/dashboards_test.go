package senders_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gnocco-db/gnocco/internal/client"
	"github.com/gnocco-db/gnocco/tests/testprogram"
)

// dashboard is what a test needs of a dashboard of Grafana.
type dashboard struct {
	Templating struct {
		List []struct {
			Name, Type string
			Definition string
		}
	}
	Panels []struct {
		Title   string
		Targets []struct{ Expr string }
	}
}

// Each panel of the dashboards in deploy/grafana finds data, and each of their variables values: of hosts in what
// gnocco demo sends, of Gnocco itself in what Prometheus writes of it, and of instances in what Ceilometer would.
func TestDashboards(t *testing.T) {
	prometheus := installed(t, "prometheus")
	t.Parallel()
	programs, err := testprogram.Build("gnocco")
	check(t, err)
	address := freeAddress(t)
	launch(t, filepath.Join(programs, "gnocco"), "demo", "--data", filepath.Join(t.TempDir(), "data"), "--listen",
		address, "--min-free-bytes", "1MiB")
	server := "http://" + address
	eventually(t, func() string {
		answer, err := http.Get(server + "/ready")
		if err != nil {
			return err.Error()
		}
		answer.Body.Close()
		if answer.StatusCode != http.StatusOK {
			return answer.Status
		}
		return ""
	})
	startPrometheus(t, prometheus, server, map[string]string{"gnocco": server})
	instance(t, server)
	files, err := filepath.Glob("../../deploy/grafana/dashboards/*.json")
	check(t, err)
	if len(files) != 3 {
		t.Fatalf("%d dashboards", len(files))
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		check(t, err)
		var board dashboard
		check(t, json.Unmarshal(text, &board))
		fill := []string{"$__rate_interval", "1m"}
		for _, v := range board.Templating.List {
			if v.Type != "query" {
				continue
			}
			selector, label, ok := strings.Cut(
				strings.TrimSuffix(strings.TrimPrefix(v.Definition, "label_values("), ")"), ", ")
			if !ok {
				t.Fatalf("%s: %s", file, v.Definition)
			}
			value := ""
			eventually(t, func() string {
				var found struct{ Data []string }
				check(t,
					json.Unmarshal(get(t, server+"/api/v1/label/"+label+"/values?"+
						url.Values{"match[]": {selector}}.Encode()), &found))
				if len(found.Data) != 1 {
					return fmt.Sprintf("%s: %s has values %q", file, v.Definition, found.Data)
				}
				value = found.Data[0]
				return ""
			})
			fill = append(fill, "$"+v.Name, value)
		}
		for _, panel := range board.Panels {
			for _, target := range panel.Targets {
				expr := strings.NewReplacer(fill...).Replace(target.Expr)
				eventually(t, func() string {
					found, err := ask(t, server, "query", url.Values{"query": {expr}})
					if err != nil {
						t.Fatalf("%s, %s: %s: %v", file, panel.Title, expr, err)
					}
					if len(found) == 0 {
						return fmt.Sprintf("%s, %s: %s finds nothing", file, panel.Title, expr)
					}
					return ""
				})
			}
		}
	}
}

// instance sends what Ceilometer does of an instance, with its archive policy, of the last hour.
func instance(t *testing.T, server string) {
	t.Helper()
	c, err := client.New(server, client.Options{User: "admin"})
	check(t, err)
	post := func(path string, body any) {
		t.Helper()
		check(t, c.Do(t.Context(), http.MethodPost, path, body, nil))
	}
	post("/v1/archive_policy", map[string]any{"name": "ceilometer-low-rate", "back_window": 0,
		"aggregation_methods": []string{"mean", "rate:mean"},
		"definition":          []map[string]any{{"granularity": "5m", "timespan": "30d"}}})
	text := map[string]any{"type": "string", "required": false}
	post("/v1/resource_type", map[string]any{"name": "instance", "attributes": map[string]any{"display_name": text}})
	const id = "1c1d9f2c-4f0b-4c4e-9a53-0c7a3f6d1b11"
	metrics := map[string][]string{"instance": {"cpu", "vcpus", "memory", "memory.usage"},
		"instance_disk":              {"disk.device.read.bytes", "disk.device.write.bytes"},
		"instance_network_interface": {"network.incoming.bytes", "network.outgoing.bytes"}}
	for kind, names := range metrics {
		resource := map[string]any{"id": id}
		if kind != "instance" {
			post("/v1/resource_type", map[string]any{"name": kind,
				"attributes": map[string]any{"instance_id": text, "name": text}})
			resource = map[string]any{"id": id + "-" + kind, "instance_id": id, "name": "first"}
		}
		post("/v1/resource/"+kind, resource)
		measures := map[string]any{}
		begin := time.Now().Add(-time.Hour)
		for i, name := range names {
			var list []map[string]any
			for at := range 12 {
				list = append(list,
					map[string]any{"timestamp": begin.Add(time.Duration(at) * 5 * time.Minute).UTC().Format(
						time.RFC3339), "value": (at + 1) * (i + 1)})
			}
			measures[name] = map[string]any{"archive_policy_name": "ceilometer-low-rate", "measures": list}
		}
		var made struct {
			ID string `json:"id"`
		}
		check(t, c.Do(t.Context(), http.MethodGet, "/v1/resource/"+kind+"/"+resource["id"].(string), nil, &made))
		post("/v1/batch/resources/metrics/measures?create_metrics=true", map[string]any{made.ID: measures})
	}
}
