package main_test

import (
	"net/http"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
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
	rebuild("archive policy p: done; 1 archive changed, 0 unchanged, 0 failed", append(change, "--wait")...)
	if got := s.measures(
		measures + "mean&granularity=60"); got != "2026-01-01T00:00:00+00:00 60 2\n2026-01-01T00:01:00+00:00 60 5" {
		t.Error(got)
	}
	rebuild("0 archives changed, 1 unchanged", "--archive-policy", "p", "--wait")
	rebuild("archives stay as they are", "--archive-policy", "q", "--back-window", "2", "--wait")
	rebuild("removed, all aggregates at: 0:00:01", "--metric", metric.ID, "--archive-policy", "q", "--preview")
	rebuild("1 archive changed", "--metric", metric.ID, "--archive-policy", "q", "--wait")
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

// A planned change leaves a metric as it is, is listed and may be cancelled, and starts in its time, also after a
// restart.
func TestPlannedRebuild(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "data")
	s := serve(t, "--data", data)
	s.call(http.MethodPost, "/v1/resource/generic", `{"id":"house","metrics":{"in":{"archive_policy_name":"medium"},
		"out":{"archive_policy_name":"medium"}}}`, http.StatusCreated, nil)
	gnocco := func(want string, args ...string) {
		t.Helper()
		stdout, stderr, status := run(t, "", append(args, "--url", s.url)...)
		if !strings.Contains(stdout, want) || (status == 0) != (stderr == "") {
			t.Fatalf("%q: status %d, want %q:\n%s%s", args, status, want, stdout, stderr)
		}
	}
	gnocco("", "rebuild", "--metric", "house/in", "--archive-policy", "low", "--after", "7d")
	gnocco("planned for 20", "rebuild")
	gnocco("planned for 20", "list", "jobs")
	gnocco("house/in   medium", "list", "metrics")
	gnocco("", "rebuild", "--metric", "house/in", "--cancel")
	gnocco("cancelled", "rebuild")
	gnocco("", "rebuild", "--metric", "house/out", "--archive-policy", "low", "--after", "1")
	gnocco("", "rebuild", "--metric", "house/in", "--archive-policy", "low", "--after", "2")
	s.end(syscall.SIGTERM)
	s = serve(t, "--data", data)
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(100 * time.Millisecond) {
		stdout, _, _ := run(t, "", "list", "metrics", "--url", s.url)
		if strings.Contains(stdout, "house/in   low") && strings.Contains(stdout, "house/out  low") {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal(stdout)
		}
	}
	for _, wrong := range [][]string{{"--archive-policy", "low"}, {"--metric", "house/in"},
		{"--metric", "house/in", "--archive-policy", "low", "--wait"},
		{"--metric", "house/in", "--archive-policy", "low", "--cancel"}} {
		_, stderr, status := run(t, "", append([]string{"rebuild", "--url", s.url, "--after", "7d"}, wrong...)...)
		if status != 1 || !strings.Contains(stderr, "--after") {
			t.Errorf("rebuild %q: status %d, %s", wrong, status, stderr)
		}
	}
}

// A counter of another policy gets increase and resets, which are exact as far as measures are kept.
func TestRebuildOfCounters(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "data")
	s := serve(t, "--data", data)
	for name, methods := range map[string]string{"old": "", "old-counter": `, "increase", "resets"`} {
		s.call(http.MethodPost, "/v1/archive_policy", `{"name": "`+name+`", "back_window": 1, "definition": `+
			`[{"granularity": 10, "points": 100}, {"granularity": 60}], "aggregation_methods": ["last", "count"`+
			methods+`]}`, http.StatusCreated, nil)
	}
	var metric struct{ ID string }
	s.call(http.MethodPost, "/v1/metric", `{"name": "sent", "archive_policy_name": "old"}`, http.StatusCreated, &metric)
	path := "/v1/metric/" + metric.ID + "/measures"
	s.call(http.MethodPost, path, `[{"timestamp": 1767225000, "value": 5},
		{"timestamp": 1767225001, "value": 6}, {"timestamp": 1767225002, "value": 7},
		{"timestamp": 1767225601, "value": 95}, {"timestamp": 1767225621, "value": 100},
		{"timestamp": 1767225641, "value": 3}, {"timestamp": 1767225661, "value": 10}]`, http.StatusAccepted, nil)
	s.measures(path + "?refresh=true&aggregation=last")
	s.end(syscall.SIGTERM) // which writes the archives
	s = serve(t, "--data", data)
	_, stderr, status := run(t, "", "rebuild", "--url", s.url, "--metric", metric.ID, "--archive-policy", "old-counter",
		"--wait")
	if status != 0 || !strings.Contains(stderr, "1 archive changed, 0 unchanged, 0 failed\nunknown: 2 groups of 1 archive, "+
		"between 2025-12-31T23:50:00Z and 2025-12-31T23:51:00Z, without a method") {
		t.Fatalf("status %d: %s", status, stderr)
	}
	// The measures of the minute of 7 are gone: its last value is known, and not whether it had resets.
	if got := s.measures(path + "?aggregation=increase&granularity=60"); got !=
		"2026-01-01T00:00:00+00:00 60 96\n2026-01-01T00:01:00+00:00 60 7" {
		t.Error(got)
	}
}
