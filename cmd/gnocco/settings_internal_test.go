package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gnocco-db/gnocco/cmd/shared/commandline"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

// effective returns the value of a flag of serve, given the command line's arguments.
func effective(t *testing.T, flag string, args ...string) (string, error) {
	t.Helper()
	cmd, rest, err := newRoot().Find(append([]string{"serve"}, args...))
	fatal.If(t, err)
	fatal.If(t, cmd.ParseFlags(rest))
	if err := commandline.ApplySettings(cmd, nil); err != nil {
		return "", err
	}
	return cmd.Flag(flag).Value.String(), nil
}

func TestSettings(t *testing.T) {
	dir := t.TempDir()
	file := func(name, content string) string {
		t.Helper()
		path := filepath.Join(dir, name)
		fatal.If(t, os.WriteFile(path, []byte(content), 0o600))
		return path
	}
	f := func(want, flag string, args ...string) {
		t.Helper()
		if got, err := effective(t, flag, args...); err != nil || got != want {
			t.Errorf("%s of %q: got %q, %v, want %q", flag, args, got, err, want)
		}
	}
	toml := file("a.toml",
		"max-limit = 5\npprof = \"127.0.0.1:1\"\ncheckpoint-interval = \"3s\"\nmemory-limit = \"1GiB\"\ncors-allowed-origin = [\"http://a\", \"http://b\"]\nbatch = 7\n")
	yaml := file("b.yaml", "max-limit: 6\nmax-body-bytes: 1024\ncors-allowed-origin: http://c\n")

	f("1000", "max-limit")
	f("5", "max-limit", "--config", toml)
	f("127.0.0.1:1", "pprof", "--config", toml)
	f("3s", "checkpoint-interval", "--config", toml)
	f("1GiB", "memory-limit", "--config", toml)
	f("[http://a,http://b]", "cors-allowed-origin", "--config", toml)
	f("6", "max-limit", "--config", yaml)
	f("1KiB", "max-body-bytes", "--config", yaml)
	f("[http://c]", "cors-allowed-origin", "--config", yaml)
	f("9", "max-limit", "--config", yaml, "--max-limit", "9")

	t.Setenv("GNOCCO_MAX_LIMIT", "8")
	t.Setenv("GNOCCO_CORS_ALLOWED_ORIGIN", "http://d,http://e")
	f("8", "max-limit", "--config", yaml)
	f("9", "max-limit", "--config", yaml, "--max-limit", "9")
	f("[http://d,http://e]", "cors-allowed-origin", "--config", yaml)
	t.Setenv("GNOCCO_CONFIG", toml)
	f("3s", "checkpoint-interval")

	fails := func(want string, args ...string) {
		t.Helper()
		if _, err := effective(t, "max-limit", args...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %q", args, err, want)
		}
	}
	fails("unknown setting max-limits, nested.thing", "--config",
		file("c.toml", "max-limits = 5\n[nested]\nthing = 1\n"))
	fails("does not end in .toml, .yaml, .yml or .conf", "--config", file("d.txt", "max-limit = 5\n"))
	t.Setenv("GNOCCO_MAX_LIMIT", "many")
	fails("--max-limit")
}
