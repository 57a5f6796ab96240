package fsck_test

import (
	"maps"
	"os"
	"path/filepath"
	"testing"

	"github.com/gnocco-db/gnocco/cluster"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

// A damaged clock keeps this machine's servers from starting. A repair sets it aside; then they start, and answer as
// before.
func TestDamagedClockIsRepaired(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	serve := func() *serving {
		t.Helper()
		s, err := serveFolder(t.Context(), data, cluster.Options{})
		fatal.If(t, err)
		return s
	}
	stop := func(s *serving) {
		t.Helper()
		fatal.If(t, s.Close(t.Context()))
	}
	s := serve()
	if status, text := s.ask(t, "POST", "/v1/archive_policy", map[string]any{"name": "p", "back_window": 2,
		"definition": []map[string]any{{"granularity": 60, "points": 1000}}}); status/100 != 2 {
		t.Fatal(status, text)
	}
	s.fill(t, "a", 1, 0)
	want, _ := s.answers(t)
	stop(s)

	clocks, err := filepath.Glob(filepath.Join(data, "clocks", "[0-9a-f]*-*"))
	if err != nil || len(clocks) != 1 {
		t.Fatal(clocks, err)
	}
	fatal.If(t, os.WriteFile(clocks[0], []byte("1795370000123456789 deadbeef\n"), 0o600))
	if s, err := serveFolder(t.Context(), data, cluster.Options{}); err == nil {
		stop(s)
		t.Fatal("a server starts with a damaged clock")
	}
	if r := check(t, data, false); r.Damaged() != 1 || !r.Repairable() {
		t.Error(text(t, r))
	}
	if r := check(t, data, true); r.Damaged() != 0 || len(r.Findings) != 1 {
		t.Error(text(t, r))
	}
	if r := check(t, data, false); len(r.Findings) != 0 {
		t.Error(text(t, r))
	}
	s = serve()
	s.fill(t, "b", 1, 10)
	if got, refused := s.answers(t); refused > 0 || len(got) <= len(want) {
		t.Errorf("%d answers, of %d before; %d refused", len(got), len(want), refused)
	} else {
		for path := range maps.Keys(want) {
			if path != "/v1/metric" && path != "/v1/resource/generic?details=true" && got[path] != want[path] {
				t.Errorf("%s: %s, was %s", path, got[path], want[path])
			}
		}
	}
	stop(s)
}
