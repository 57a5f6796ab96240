package main_test

import (
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gnocco-db/gnocco/tests/fatal"
)

// Importers are a program of their own, which gnocco finds beside itself or in PATH, and asks for where it is not.
func TestImportFindsItsProgram(t *testing.T) {
	alone := filepath.Join(t.TempDir(), "gnocco")
	content, err := os.ReadFile(program)
	fatal.If(t, err)
	fatal.If(t, os.WriteFile(alone, content, 0o755))
	f := func(path, want string) {
		t.Helper()
		cmd := exec.Command(alone, "import", "csv", filepath.Join(t.TempDir(), "none.csv"))
		cmd.Env = append(os.Environ(), "PATH="+path)
		out, err := cmd.CombinedOutput()
		if err == nil || cmd.ProcessState.ExitCode() != 1 || !strings.Contains(string(out), want) {
			t.Errorf("PATH %q: %v, want %q:\n%s", path, err, want, out)
		}
	}
	f("", "the program gnocco-import is needed, and neither beside "+alone+" nor in PATH")
	f(filepath.Dir(program), "none.csv: no such file or directory")
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
