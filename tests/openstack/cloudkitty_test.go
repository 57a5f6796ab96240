package openstack_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/gnocco-db/gnocco/tests/fatal"
)

// CloudKitty's collectors come to our sums, by Gnocchi's API and by Prometheus', and its fetchers find the projects.
func TestCloudKitty(t *testing.T) {
	installed(t, "cloudkitty", "gnocchiclient")
	type machine struct {
		ID      string    `json:"id"`
		Project string    `json:"project"`
		Flavor  string    `json:"flavor"`
		Values  []float64 `json:"values"` // of each minute from 12:00 on
	}
	const projects = 2
	var machines []machine
	for i := range 6 {
		m := machine{ID: fmt.Sprintf("00000000-0000-4000-8000-00000000000%d", i), Project: fmt.Sprint("project", i%projects), Flavor: fmt.Sprint("f", i/2)}
		for minute := range 60 * (1 + i/2) { // some are gone after an hour or two
			m.Values = append(m.Values, float64((7*i+minute*minute)%101))
		}
		machines = append(machines, m)
	}
	data, err := json.Marshal(machines)
	fatal.If(t, err)
	path := filepath.Join(t.TempDir(), "servers.json")
	fatal.If(t, os.WriteFile(path, data, 0o600))

	want := map[string]any{"tenants": []any{"project0", "project1"}, "prometheus tenants": []any{"project0", "project1"},
		"unknown metric": []any{}, "unknown project": []any{}}
	for p := range projects {
		for hour := range 3 {
			of := func(method string) map[string]any {
				key := fmt.Sprintf("%s project%d %d", method, p, hour)
				answer := map[string]any{}
				want[key] = answer
				return answer
			}
			custom := of("custom")
			methods := map[string]func([]float64) float64{
				"sum": sum, "max": slices.Max[[]float64], "min": slices.Min[[]float64],
			}
			for method, apply := range methods {
				gnocchi, prometheus := of("gnocchi "+method), of("prometheus "+method)
				for _, m := range machines {
					if m.Project != fmt.Sprint("project", p) || len(m.Values) <= 60*hour {
						continue
					}
					values := m.Values[60*hour : 60*hour+60]
					gnocchi[m.ID+" "+m.Flavor+" s"] = apply(values)
					prometheus[m.ID+" "+m.Flavor+" s"] = apply(values)
					if method == "sum" {
						custom[m.ID] = sum(values) / 60
					}
				}
			}
		}
	}
	for _, session := range []string{"basic", "keystone"} { // it knows no others
		t.Run(session, func(t *testing.T) {
			t.Parallel()
			s := newSite(t, session)
			settings := s.session
			if session == "basic" {
				settings = fmt.Sprintf("gnocchi_auth_type = basic\ngnocchi_user = admin\ngnocchi_endpoint = %s\n", s.URL())
			}
			prometheus := fmt.Sprintf("prometheus_url = %s/api/v1\nprometheus_user = %s\nprometheus_password = %s\n", s.URL(), s.user, s.secret)
			var got map[string]any
			run(t, &got, "collect.py", config(t, "[collector_gnocchi]\n", settings, "[fetcher_gnocchi]\n", settings,
				"[collector_prometheus]\n", prometheus, "[fetcher_prometheus]\nmetric = power\n", prometheus), path)
			for _, key := range slices.Sorted(maps.Keys(want)) {
				if !reflect.DeepEqual(rounded(got[key]), rounded(want[key])) {
					t.Errorf("%s: %v, want %v", key, got[key], want[key])
				}
			}
			if len(got) != len(want) {
				t.Errorf("%d answers, want %d: %q", len(got), len(want), strings.Join(slices.Sorted(maps.Keys(got)), ", "))
			}
		})
	}
}

func sum(values []float64) (total float64) {
	for _, v := range values {
		total += v
	}
	return total
}

// rounded rounds the numbers of a map, as CloudKitty does with those from Prometheus, to 9 digits.
func rounded(value any) any {
	m, ok := value.(map[string]any)
	if !ok {
		return value
	}
	m = maps.Clone(m)
	for key, v := range m {
		if number, ok := v.(float64); ok {
			m[key] = math.Round(number*1e5) / 1e5
		}
	}
	return m
}
