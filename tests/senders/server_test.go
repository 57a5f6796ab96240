package senders_test

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gnocco-db/gnocco/cluster"
	"github.com/gnocco-db/gnocco/internal/client"
	"github.com/gnocco-db/gnocco/internal/loopback"
	"github.com/gnocco-db/gnocco/server"
	"github.com/gnocco-db/gnocco/tests/testprogram"
)

// start returns a server whose metrics have groups of a second, by the last measure, and a client of it.
func start(t *testing.T, change func(*server.Options)) (*server.Server, *client.Client) {
	t.Helper()
	options := server.Options{Cluster: cluster.Options{Data: filepath.Join(t.TempDir(), "data"),
		SkipDefaultPolicies: true, MinFreeBytes: 1 << 20, Lease: cluster.Lease{TTL: time.Minute}}, Listen: "127.0.0.1:0"}
	if change != nil {
		change(&options)
	}
	s, err := server.Start(t.Context(), options)
	check(t, err)
	t.Cleanup(func() { check(t, s.Close(context.WithoutCancel(t.Context()))) })
	c, err := client.New(s.URL(), client.Options{User: "admin"})
	check(t, err)
	for _, name := range []string{"second", "prometheus"} { // the latter is that of series with labels
		check(t, c.Do(t.Context(), http.MethodPost, "/v1/archive_policy",
			map[string]any{"name": name, "back_window": 3600,
				"definition":          []map[string]any{{"granularity": 1}},
				"aggregation_methods": []string{"last", "sum", "count"}}, nil))
	}
	check(t, c.Do(t.Context(), http.MethodPost, "/v1/archive_policy_rule",
		map[string]any{"name": "all", "metric_pattern": "*", "archive_policy_name": "second"}, nil))
	return s, c
}

// installed returns the path of a program, or skips the test.
func installed(t *testing.T, name string) string {
	t.Helper()
	if testing.Short() {
		t.Skip("-short: make test SHORT= runs it")
	}
	for _, folder := range []string{"", "/usr/sbin/"} { // where Debian has daemons
		if program, err := exec.LookPath(folder + name); err == nil {
			return program
		}
	}
	t.Skip(name + " is not installed")
	return ""
}

// launch starts a program that runs until the test ends.
func launch(t *testing.T, program string, args ...string) *os.Process {
	t.Helper()
	log, err := os.Create(filepath.Join(t.TempDir(), "log"))
	check(t, err)
	cmd := exec.Command(program, args...)
	cmd.Stdout, cmd.Stderr = log, log
	check(t, testprogram.EndWithTest(cmd).Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if text, err := os.ReadFile(log.Name()); err == nil && t.Failed() {
			t.Logf("%s said: %s", program, text)
		}
	})
	return cmd.Process
}

// write makes a file in a folder of the test and returns its path.
func write(t *testing.T, name, format string, args ...any) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	check(t, os.WriteFile(path, fmt.Appendf(nil, format, args...), 0o600))
	return path
}

func freeAddress(t *testing.T) string {
	t.Helper()
	address, err := loopback.Free()
	check(t, err)
	return address
}

// cutLast cuts text at the last separator.
func cutLast(text string, separator byte) (before, after string, ok bool) {
	if i := strings.LastIndexByte(text, separator); i >= 0 {
		return text[:i], text[i+1:], true
	}
	return text, "", false
}
