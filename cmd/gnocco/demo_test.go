package main_test

import (
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
)

// The demo's second run must find its resource and metrics, and both runs' measures must be there afterwards.
func TestDemo(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: make test SHORT= runs it")
	}
	data := filepath.Join(t.TempDir(), "data")
	listing := regexp.MustCompile(`curl -s -u admin: 'http://[^/]+(/v1/resource/generic/[^/']+/metric)'`)
	var paths []string
	for range 2 {
		stdout, stderr, status := run(t, "", "demo", "--data", data, "--listen", "127.0.0.1:0", "--min-free-bytes",
			"1MiB", "--for", "3500ms")
		if status != 0 {
			t.Fatalf("status %d:\n%s%s", status, stdout, stderr)
		}
		if strings.Contains(stderr, "level=ERROR") || !strings.Contains(stdout, "\nsent ") {
			t.Errorf("%s%s", stdout, stderr)
		}
		found := listing.FindStringSubmatch(stdout)
		if found == nil {
			t.Fatalf("no command to list metrics:\n%s", stdout)
		}
		paths = append(paths, found[1])
	}
	if paths[0] != paths[1] {
		t.Errorf("resource %s, then %s", paths[0], paths[1])
	}
	s := serve(t, "--data", data)
	for _, metric := range []string{"load.1min", "memory.used.bytes"} {
		rows := strings.Split(s.measures(paths[0]+"/"+metric+"/measures?granularity=1&aggregation=count"), "\n")
		if len(rows) < 4 { // three each; a busy machine may miss some
			t.Errorf("%s: %q", metric, rows)
		}
	}
	if status := s.end(syscall.SIGTERM); status != 0 {
		t.Errorf("status %d: %s", status, s.logged())
	}
}
