package main_test

import (
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Metrics that moved before a metric come first. Names whose series moved with it, with the same labels, are one row.
func TestExplain(t *testing.T) {
	withoutCredentials(t)
	s := serve(t, "--data", filepath.Join(t.TempDir(), "data"))
	begin := time.Date(2026, 1, 1, 7, 0, 0, 0, time.UTC)
	var lines strings.Builder
	for n, of := range []struct {
		name string
		at   int // minutes after eight, on the hosts of one rack; 0: nowhere
	}{{"quiet", 0}, {"queue", 30}, {"latency", 12}, {"load", 13}, {"disk", 4}} {
		for host := range 8 {
			var times, values []string
			for i := range 120 {
				v := 10*n + (i*7+host)%5
				if of.at > 0 && host%4 == 1 && i >= 60+of.at {
					v += 40 - 3*n
				}
				times = append(times, fmt.Sprint(begin.Add(time.Duration(i)*time.Minute).UnixMilli()))
				values = append(values, fmt.Sprint(v))
			}
			fmt.Fprintf(&lines, `{"metric":{"__name__":%q,"host":"h%d","rack":"r%d"},"values":[%s],"timestamps":[%s]}`+"\n",
				of.name, host, host%4, strings.Join(values, ","), strings.Join(times, ","))
		}
	}
	s.call(http.MethodPost, "/api/v1/import", lines.String(), http.StatusNoContent, nil)
	for waits := 1; waits > 0; {
		var status struct {
			Storage struct{ Summary struct{ Measures int } }
		}
		s.call(http.MethodGet, "/v1/status", "", http.StatusOK, &status)
		waits = status.Storage.Summary.Measures
	}
	f := func(status int, want []string, wantErr string, args ...string) {
		t.Helper()
		stdout, stderr, got := run(t, "", append(args, "--url", s.url, "--start", "2026-01-01T08:00", "--stop",
			"2026-01-01T09:00", "-o", "csv")...)
		rows := strings.Split(strings.TrimSpace(stdout), "\n")
		for i, row := range want {
			if i+1 >= len(rows) || !strings.Contains(rows[i+1], row) {
				t.Errorf("%q: no row %d with %q in\n%s", args, i, row, stdout)
			}
		}
		if got != status || !strings.Contains(stderr, wantErr) || status == 0 && len(rows) != len(want)+1 {
			t.Errorf("%q: status %d, %s%s", args, got, stdout, stderr)
		}
	}
	f(0, []string{"08:04:00+00:00,-480,\"disk{", "08:12:00+00:00,0,\"latency{", "08:30:00+00:00,1080,\"queue{"},
		"8 of 40 metrics moved far: rack=r1 (8 of 8)\n", "explain", "latency")
	f(0, []string{"2,8,rack=r1 (2 of 2),load", ",240,\"disk{", ",1800,\"queue{"}, "", "explain") // by score
	f(0, []string{",1800,\"queue{"}, "2 of 8 metrics", "explain", "--match", "queue")
	f(1, nil, "quiet did not move", "explain", "quiet")
	f(1, nil, "no metric is latencies (did you mean latency?)", "explain", "latencies")
}
