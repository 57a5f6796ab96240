package main_test

import (
	"net/http"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestRebuild(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "data")
	s := serve(t, "--data", data)
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
	s.end(syscall.SIGTERM) // which writes the archive
	s = serve(t, "--data", data)
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
	s.call(http.MethodPost, "/v1/resource/generic", `{"id":"house","metrics":{"in":{"archive_policy_name":"p"}}}`,
		http.StatusCreated, nil)
	rebuild("metric house/in: done; ", "--metric", "house/in", "--archive-policy", "q", "--wait")
	rebuild("metric house/in  ")
	rebuild("", "--metric", "house/in", "--archive-policy", "p")
	_, stderr, _ := run(t, "", "rebuild", "--url", s.url, "--archive-policy", "low", "--cancel")
	if want := "gnocco: no rebuild of archive policy low is known"; !strings.HasPrefix(stderr, want) {
		t.Errorf("%s, want %s", stderr, want)
	}
	for _, wrong := range [][]string{{"--wait"}, {"--metric", "x"}, {"--metric", metric.ID, "--back-window", "1"},
		{"--archive-policy", "p", "--preview"}, {"--archive-policy", "no-such"},
		{"--archive-policy", "p", "--definition", "odd"}} {
		if _, stderr, status := run(t, "", append([]string{"rebuild", "--url", s.url}, wrong...)...); status != 1 ||
			stderr == "" {
			t.Errorf("rebuild %q: status %d, %s", wrong, status, stderr)
		}
	}
}

// Counters of an older policy get one with increase and resets, which are exact as far as measures are kept.
func TestRebuildOfCounters(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "data")
	s := serve(t, "--data", data)
	s.call(http.MethodPost, "/v1/archive_policy", `{"name": "old", "back_window": 1, "definition": `+
		`[{"granularity": 10, "points": 100}, {"granularity": 60}], "aggregation_methods": ["last", "count"]}`,
		http.StatusCreated, nil)
	ids := map[string]string{}
	for name, more := range map[string]string{"hits_total": "", "size": "", "sent": `"type": "counter", `,
		"odd_total": `"type": "gauge", `} {
		var metric struct{ ID string }
		s.call(http.MethodPost, "/v1/metric", `{"name": "`+name+`", `+more+`"archive_policy_name": "old"}`,
			http.StatusCreated, &metric)
		ids[name] = metric.ID
		s.call(http.MethodPost, "/v1/metric/"+metric.ID+"/measures", `[{"timestamp": 1767225000, "value": 5},
			{"timestamp": 1767225001, "value": 6}, {"timestamp": 1767225002, "value": 7},
			{"timestamp": 1767225601, "value": 95}, {"timestamp": 1767225621, "value": 100},
			{"timestamp": 1767225641, "value": 3}, {"timestamp": 1767225661, "value": 10}]`, http.StatusAccepted, nil)
		s.measures("/v1/metric/" + metric.ID + "/measures?refresh=true&aggregation=last")
	}
	s.end(syscall.SIGTERM) // which writes the archives
	s = serve(t, "--data", data)
	move := func(want string, more ...string) {
		t.Helper()
		args := append([]string{"rebuild", "--url", s.url, "--archive-policy", "old", "--counters"}, more...)
		stdout, stderr, status := run(t, "", args...)
		if status != 0 || !strings.Contains(stdout+stderr, want) {
			t.Fatalf("%q: status %d, want %q:\n%s%s", args, status, want, stdout, stderr)
		}
	}
	move("2 of 4 metrics are counters, for archive policy old-counter", "--preview")
	move("1 archives changed, 0 unchanged, 0 failed\nunknown: 2 groups of 1 archives, between "+
		"2025-12-31T23:50:00Z and 2025-12-31T23:51:00Z, stay without a method", "--wait")
	move("0 of 2 metrics are counters")
	for name, want := range map[string]string{"hits_total": "old-counter", "size": "old", "sent": "old-counter",
		"odd_total": "old"} {
		var metric struct {
			ArchivePolicy struct{ Name string } `json:"archive_policy"`
		}
		s.call(http.MethodGet, "/v1/metric/"+ids[name], "", http.StatusOK, &metric)
		if metric.ArchivePolicy.Name != want {
			t.Errorf("%s: %s, want %s", name, metric.ArchivePolicy.Name, want)
		}
	}
	// The measures of the minute of 7 are gone: its last value is known, and not whether it had resets.
	if got := s.measures("/v1/metric/" + ids["sent"] + "/measures?aggregation=increase&granularity=60"); got !=
		"2026-01-01T00:00:00+00:00 60 96\n2026-01-01T00:01:00+00:00 60 7" {
		t.Error(got)
	}
	if _, _, status := run(t, "", "rebuild", "--url", s.url, "--counters"); status != 1 {
		t.Error("--counters alone is not refused")
	}
}
