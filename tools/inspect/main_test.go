package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/gnocco-db/gnocco/cluster"
	"github.com/gnocco-db/gnocco/server"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

func TestInspect(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	var s *server.Server
	serve := func() {
		var err error
		s, err = server.Start(t.Context(), server.Options{Cluster: cluster.Options{Data: data, Sacks: 3},
			Listen: "127.0.0.1:0"})
		fatal.If(t, err)
	}
	post := func(path, body string) []byte {
		t.Helper()
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL()+path, strings.NewReader(body))
		fatal.If(t, err)
		request.Header.Set("Content-Type", "application/json")
		request.SetBasicAuth("admin", "")
		answer, err := http.DefaultClient.Do(request)
		fatal.If(t, err)
		defer answer.Body.Close()
		content, err := io.ReadAll(answer.Body)
		if err != nil || answer.StatusCode/100 != 2 {
			t.Fatalf("%s: %s %s (%v)", path, answer.Status, content, err)
		}
		return content
	}
	inspect := func(wants []string, args ...string) string {
		t.Helper()
		var out bytes.Buffer
		cmd := newInspect()
		cmd.SetOut(&out)
		cmd.SetArgs(append([]string{"--data", data}, args...))
		fatal.If(t, cmd.Execute())
		for _, want := range wants {
			if !strings.Contains(out.String(), want) {
				t.Errorf("%q does not say %q:\n%s", args, want, &out)
			}
		}
		return out.String()
	}
	serve()
	post("/v1/archive_policy", `{"name": "seconds", "back_window": 2, "aggregation_methods": ["mean", "count", "sum"],
		"definition": [{"granularity": 1, "points": 3600}]}`)
	var m struct{ ID string }
	fatal.If(t, json.Unmarshal(post("/v1/metric", `{"archive_policy_name": "seconds"}`), &m))
	send := func(second int) {
		post("/v1/metric/"+m.ID+"/measures", fmt.Sprintf(
			`[{"timestamp": "2026-01-01T00:00:0%[1]d", "value": %[1]d.5}]`, second))
	}
	for second := range 3 {
		send(second)
	}
	fatal.If(t, s.Close(context.Background()))

	inspect([]string{"3 sacks", "index", "incoming/", "sacks/002"}, "stores")
	inspect([]string{m.ID, "seconds"}, "metrics")
	inspect(nil, "quarantine")
	shown, groups := inspect([]string{"archive policy seconds", "split 1s@2026-01-01T00:00:00Z", "count", "sum"},
		"metric", m.ID), 0
	for _, operand := range regexp.MustCompile(`(\d+) groups`).FindAllStringSubmatch(shown, -1) {
		n, err := strconv.Atoi(operand[1])
		fatal.If(t, err)
		groups += n
	}
	if groups != 3 {
		t.Errorf("%d groups are shown, want 3:\n%s", groups, shown)
	}
	inspect([]string{"2026-01-01T00:00:01Z  1", "2.5"}, "split", m.ID, "1s", "2026-01-01T00:30:00")

	serve()
	send(1) // late
	fatal.If(t, s.Close(context.Background()))
	if shown := inspect(nil, "metric", m.ID); !regexp.MustCompile(`(?m)^late +1 measures`).MatchString(shown) {
		t.Errorf("no late measure is shown:\n%s", shown)
	}
	cmd := newInspect()
	cmd.SetArgs([]string{"--data", data, "split", m.ID, "1s", "2027-01-01"})
	if err := cmd.Execute(); err == nil || !strings.Contains(err.Error(), "has no split") {
		t.Errorf("a split that is not there: %v", err)
	}
}
