package main_test

import (
	"net/http"
	"path/filepath"
	"strings"
	"testing"
)

func TestRebuild(t *testing.T) {
	s := serve(t, "--data", filepath.Join(t.TempDir(), "data"))
	s.call(http.MethodPost, "/v1/archive_policy",
		`{"name": "p", "definition": [{"granularity": 1}], "aggregation_methods": ["mean", "max"]}`,
		http.StatusCreated, nil)
	s.call(http.MethodPost, "/v1/archive_policy",
		`{"name": "q", "definition": [{"granularity": 60}], "aggregation_methods": ["count"]}`, http.StatusCreated, nil)
	var metric struct{ ID string }
	s.call(http.MethodPost, "/v1/metric", `{"archive_policy_name": "p"}`, http.StatusCreated, &metric)
	s.call(http.MethodPost, "/v1/metric/"+metric.ID+"/measures",
		`[{"timestamp": 1767225601, "value": 1}, {"timestamp": 1767225602, "value": 3}, {"timestamp": 1767225661, "value": 5}]`, http.StatusAccepted, nil)
	measures := "/v1/metric/" + metric.ID + "/measures?refresh=true&aggregation="
	s.measures(measures + "max")
	rebuild := func(want string, args ...string) {
		t.Helper()
		stdout, stderr, status := run(t, "", append([]string{"rebuild", "--url", s.url}, args...)...)
		if status != 0 || !strings.Contains(stdout+stderr, want) {
			t.Fatalf("rebuild %q: status %d, want %q:\n%s%s", args, status, want, stdout, stderr)
		}
	}
	change := []string{"--archive-policy", "p", "--definition", "1s:1h,1m", "--aggregation-method", "mean,median"}
	rebuild("0:01:00      median  measures that are kept  0:00:00", append(change, "--preview")...)
	rebuild("removed, all aggregates by: max", append(change, "--preview")...)
	rebuild("archive policy p: done; 1 archives changed, 0 unchanged, 0 failed", append(change, "--wait")...)
	if got := s.measures(
		measures + "mean&granularity=60"); got != "2026-01-01T00:00:00+00:00 60 2\n2026-01-01T00:01:00+00:00 60 5" {
		t.Error(got)
	}
	rebuild("0 archives changed, 1 unchanged", "--archive-policy", "p", "--wait")
	rebuild("archives stay as they are", "--archive-policy", "q", "--back-window", "2", "--wait")
	rebuild("removed, all aggregates at: 0:00:01", "--metric", metric.ID, "--archive-policy", "q", "--preview")
	rebuild("1 archives changed", "--metric", metric.ID, "--archive-policy", "q", "--wait")
	if got := s.measures(measures + "count"); got != "2026-01-01T00:00:00+00:00 60 2\n2026-01-01T00:01:00+00:00 60 1" {
		t.Error(got)
	}
	rebuild("metric " + metric.ID + "  done")
	for _, wrong := range [][]string{{"--wait"}, {"--metric", "x"}, {"--metric", metric.ID, "--back-window", "1"},
		{"--archive-policy", "p", "--preview"}, {"--archive-policy", "no-such"},
		{"--archive-policy", "p", "--definition", "odd"}} {
		if _, stderr, status := run(t, "", append([]string{"rebuild", "--url", s.url}, wrong...)...); status != 1 ||
			stderr == "" {
			t.Errorf("rebuild %q: status %d, %s", wrong, status, stderr)
		}
	}
}
