package openstack_test

import (
	"slices"
	"strings"
	"testing"
)

// Alarms of Aodh's three evaluators fire and resolve, and say so where data is missing.
func TestAodh(t *testing.T) {
	installed(t, "aodh", "gnocchiclient")
	const ok, alarm, unknown = "ok", "alarm", "insufficient data"
	fires := []string{unknown, ok, alarm, ok, alarm, unknown}
	silent := []string{unknown, unknown, unknown, unknown, unknown, unknown}
	want := map[string]struct {
		states []string
		reason string // a part of the last one
	}{
		"resource":               {fires, "No datapoint for granularity 60"},
		"metrics":                {fires, "No datapoint for granularity 60"},
		"resources":              {fires, "No datapoint for granularity 60"},
		"rate":                   {fires, "No datapoint for granularity 60"},
		"no resource":            {silent, "resource web9 does not exists"},
		"no metric":              {silent, "metric lode for resource web0 does not exists"},
		"no method":              {silent, "aggregation max does not exist for metric load of resource web0"},
		"no granularity":         {silent, "aggregation mean does not exist for metric load of resource web0"},
		"no such metrics":        {silent, "aggregation mean does not exist for at least one metrics in"},
		"no method of metrics":   {silent, "aggregation max does not exist for at least one metrics in"},
		"no metric of resources": {silent, "metric lode does not exists"},
		"no resources":           {silent, "metric load does not exists"},
	}
	for _, session := range sessions {
		t.Run(session, func(t *testing.T) {
			t.Parallel()
			s := newSite(t, session)
			var got struct {
				States  map[string][]string
				Reasons map[string]string
			}
			run(t, &got, "evaluate.py", config(t, "[service_credentials]\n", s.session,
				"[database]\nconnection = sqlite:///", t.TempDir(), "/aodh.sqlite\n"))
			for name, w := range want {
				if states, reason := got.States[name], got.Reasons[name]; !slices.Equal(states, w.states) ||
					!strings.Contains(reason, w.reason) {
					t.Errorf("%s: %q, %s; want %q, %s", name, states, reason, w.states, w.reason)
				}
			}
		})
	}
}
