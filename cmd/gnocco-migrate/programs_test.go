package main

import (
	"slices"
	"strings"
	"testing"
)

// The command line of gnocchi-api has its own flags and gnocco's in any order. It passes those of gnocco on unchanged.
func TestCommandLinesAreDivided(t *testing.T) {
	f := func(line, own, others string) {
		t.Helper()
		g := newGnocchiProgram("gnocchi-api", "Serve")
		gotOwn, gotOthers := divide(g.Flags(), strings.Fields(line))
		if !slices.Equal(gotOwn, strings.Fields(own)) || !slices.Equal(gotOthers, strings.Fields(others)) {
			t.Errorf("%q: %q and %q", line, gotOwn, gotOthers)
		}
	}
	f("", "", "")
	f("-- --config-file a.conf --listen :1", "--config-file a.conf", "--listen :1")
	f("--listen :1 --config-file=a.conf --max-limit=3", "--config-file=a.conf", "--listen :1 --max-limit=3")
	f("-d --debug --init -v=false --noverbose x", "-d --debug -v=false --noverbose", "--init x")
	f("--config-file", "--config-file", "")
}

// Flags go before the environment. Of Gnocchi's words and ours for the same, ours count.
func TestGivenSettings(t *testing.T) {
	t.Setenv("GNOCCO_KEYSTONE_URL", "http://e")
	g := newGnocchiProgram("gnocchi-api", "Serve")
	g.others = []string{"--auth-mode", "keystone", "--auth-mode=basic", "--log-file="}
	g.set("auth-mode", "htpasswd")
	g.set("listen", ":1")
	f := func(setting, want string, given bool) {
		t.Helper()
		if got, ok := g.given(setting); got != want || ok != given {
			t.Errorf("%s is %q, %v", setting, got, ok)
		}
	}
	f("auth-mode", "basic", true)
	f("listen", ":1", true)
	f("log-file", "", true)
	f("keystone-url", "http://e", true)
	f("data", "", false)
	g.others = append(g.others, "--keystone-url=http://f")
	f("keystone-url", "http://f", true)
}
