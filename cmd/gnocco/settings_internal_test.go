package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

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

// No command takes a number or a time below 0, whether from the command line or the environment, where its usage does
// not say what it is.
func TestNumbersAreNotNegative(t *testing.T) {
	tried := 0
	refused := func(cmd *cobra.Command, flag, value string, args ...string) {
		t.Helper()
		tried++
		fatal.If(t, cmd.ParseFlags(args))
		if err := commandline.ApplySettings(cmd, nil); err == nil || !strings.Contains(err.Error(), "--"+flag) {
			t.Errorf("%s --%s=%s: %v", cmd.CommandPath(), flag, value, err)
		}
		fatal.If(t, cmd.Flags().Set(flag, cmd.Flag(flag).DefValue))
		cmd.Flag(flag).Changed = false
	}
	values := map[string][]string{"int": {"-1", "-7"}, "int64": {"-1", "-7"}, "duration": {"-1ns", "-1h"},
		"float64": {"-1", "-1e-300", "NaN", "Inf", "-Inf"}}
	var visit func(cmd *cobra.Command)
	visit = func(cmd *cobra.Command) {
		cmd.Flags().VisitAll(func(flag *pflag.Flag) {
			for _, value := range values[flag.Value.Type()] {
				if flag.Hidden {
					continue
				}
				refused(cmd, flag.Name, value, "--"+flag.Name+"="+value)
				name := "GNOCCO_" + strings.ToUpper(strings.ReplaceAll(flag.Name, "-", "_"))
				t.Setenv(name, value)
				refused(cmd, flag.Name, value)
				fatal.If(t, os.Unsetenv(name))
			}
		})
		for _, child := range cmd.Commands() {
			visit(child)
		}
	}
	visit(newRoot())
	if tried < 100 {
		t.Errorf("%d values tried", tried)
	}
}
