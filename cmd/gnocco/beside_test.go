package main_test

import (
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gnocco-db/gnocco/tests/fatal"
)

// Commands of other programs become these, beside gnocco or in PATH. Without one, gnocco says what to install.
func TestCommandsFindTheirPrograms(t *testing.T) {
	alone := filepath.Join(t.TempDir(), "gnocco")
	content, err := os.ReadFile(program)
	fatal.If(t, err)
	fatal.If(t, os.WriteFile(alone, content, 0o755))
	f := func(path, want string, args ...string) {
		t.Helper()
		cmd := exec.Command(alone, args...)
		cmd.Env = append(os.Environ(), "PATH="+path)
		out, err := cmd.CombinedOutput()
		if err == nil || cmd.ProcessState.ExitCode() != 1 || !strings.Contains(string(out), want) {
			t.Errorf("PATH %q, %q: %v, want %q:\n%s", path, args, err, want, out)
		}
	}
	for name, program := range programsOfCommands(t) {
		want := "gnocco: the program " + program + " is needed, and neither beside " + alone + " nor in PATH: install " + program
		f("", want, name, "x", "--url", "http://127.0.0.1:1")
		f("", want, "help", name)
		f("", want, "--config", "none.toml", name, "--help")
		f("", want, "config", "show", "-o", "csv", name)
	}
	path := filepath.Dir(program)
	f(path, "none.csv: no such file or directory", "import", "csv", filepath.Join(t.TempDir(), "none.csv"))
	f(path, "is a server running there?", "show", "x", "--url", "http://127.0.0.1:1")
}

// programsOfCommands returns which program beside gnocco has each of gnocco's commands. The help of both must list it
// alike.
func programsOfCommands(t *testing.T) map[string]string {
	t.Helper()
	listed := func(name string) map[string]string {
		help, err := exec.Command(filepath.Join(filepath.Dir(program), name), "--help").Output()
		fatal.If(t, err)
		return listedCommands(string(help))
	}
	ours, programs := listed("gnocco"), make(map[string]string)
	for _, name := range []string{"gnocco-client", "gnocco-import"} {
		for command, about := range listed(name) {
			if command == "licenses" {
				continue
			}
			if ours[command] != about {
				t.Errorf("gnocco lists %s as %q, %s as %q", command, ours[command], name, about)
			}
			programs[command] = name
		}
	}
	if len(programs) < 10 {
		t.Fatalf("only %q are elsewhere", programs)
	}
	return programs
}

// A command of another program that only holds others fails on an unknown one, with any flags.
func TestUnknownCommandsElsewhereFail(t *testing.T) {
	for _, group := range []string{"rules", "import"} {
		for _, more := range [][]string{{"parquet"}, {"parquet", "x"}, {"parquet", "x", "--policy", "low"}} {
			_, stderr, status := run(t, "", append([]string{group}, more...)...)
			if status != 1 || !strings.HasPrefix(stderr, `gnocco: unknown command "parquet" for "gnocco `+group+`"`) {
				t.Errorf("%s %q: status %d, %s", group, more, status, stderr)
			}
		}
		if out, stderr, status := run(t, "", group); status != 0 || !strings.Contains(out, "Available Commands:") {
			t.Errorf("%s: status %d, %s%s", group, status, out, stderr)
		}
	}
}

// listedCommands returns the commands that a help text lists, with a line on each.
func listedCommands(help string) map[string]string {
	about := make(map[string]string)
	for _, m := range regexp.MustCompile(`(?m)^  ([a-z]+) +([A-Z].*)$`).FindAllStringSubmatch(help, -1) {
		about[m[1]] = m[2]
	}
	delete(about, "completion")
	delete(about, "help")
	return about
}

// The list of settings that any program knows has those of all commands, and no other.
func TestSettingsOfAllPrograms(t *testing.T) {
	withoutCredentials(t)
	text, err := os.ReadFile("../shared/commandline/settings.txt")
	fatal.If(t, err)
	found := map[string]bool{"config": true}
	var visit func(path ...string)
	visit = func(path ...string) {
		if len(path) > 0 {
			example, stderr, status := run(t, "", append([]string{"config", "example"}, path...)...)
			if status != 0 {
				t.Errorf("config example %q: %s", path, stderr)
			}
			for _, m := range regexp.MustCompile(`(?m)^#([a-z0-9-]+) = `).FindAllStringSubmatch(example, -1) {
				found[m[1]] = true
			}
		}
		help, _, _ := run(t, "", append(path[:len(path):len(path)], "--help")...)
		for _, name := range slices.Sorted(maps.Keys(listedCommands(help))) {
			visit(append(path[:len(path):len(path)], name)...)
		}
	}
	visit()
	want := slices.Sorted(maps.Keys(found))
	if names := strings.Fields(string(text)); !slices.Equal(names, want) {
		missing := slices.DeleteFunc(want, func(name string) bool { return slices.Contains(names, name) })
		more := slices.DeleteFunc(names, func(name string) bool { return found[name] })
		t.Errorf("settings.txt lacks %q, and has %q, which no command has, or is not sorted", missing, more)
	}
}

// Settings of an import may come from the configuration file and the environment, lists and secrets as well.
func TestImportSettings(t *testing.T) {
	s := serve(t, "--data", filepath.Join(t.TempDir(), "data"))
	config := filepath.Join(t.TempDir(), "gnocco.toml")
	fatal.If(t, os.WriteFile(config, []byte("url = \""+s.url+"\"\nmetric-column = [\"a,b\", \"c\"]\nresource = \"r\"\n"+
		"password = \"p\"\n"), 0o600))
	text := "time,\"a,b\",c,v\n2026-01-01,x,y,1\n"
	t.Setenv("GNOCCO_RESOURCE", "house")
	if _, stderr, status := run(t, text, "import", "csv", "--config", config, "--user", "admin", "-"); status != 0 {
		t.Fatalf("status %d:\n%s", status, stderr)
	}
	var metrics []struct{ Name string }
	s.call(http.MethodGet, "/v1/resource/generic/house/metric", "", http.StatusOK, &metrics)
	if len(metrics) != 1 || metrics[0].Name != "x.y" {
		t.Errorf("%+v", metrics)
	}
	// The command line has the last word.
	if _, stderr, status := run(t, text, "import", "csv", "--config", config, "--url", "none", "-"); status != 1 ||
		!strings.Contains(stderr, "has no scheme") {
		t.Errorf("status %d:\n%s", status, stderr)
	}
}
