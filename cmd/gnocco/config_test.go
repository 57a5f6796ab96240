package main_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// config says where each setting comes from, and names variables that set nothing.
func TestConfig(t *testing.T) {
	withoutCredentials(t)
	file := filepath.Join(t.TempDir(), "gnocco.toml")
	if err := os.WriteFile(file, []byte("max-limit = 500\nsacks = 7\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("GNOCCO_MAX_LIMIT", "600")
	t.Setenv("GNOCCO_MAXLIMIT", "1")
	t.Setenv("GNOCCO_PASSWORD", "geheim")
	f := func(status int, want, wantErr string, args ...string) {
		t.Helper()
		stdout, stderr, got := run(t, "", append([]string{"config"}, args...)...)
		if got != status || !strings.Contains(stdout, want) || !strings.Contains(stderr, wantErr) ||
			strings.Contains(stdout, "geheim") {
			t.Errorf("config %q: status %d, %s%s", args, got, stdout, stderr)
		}
	}
	const warning = "warning: GNOCCO_MAXLIMIT is no setting of any command (did you mean GNOCCO_MAX_LIMIT?)\n"
	f(0, "\nmax-limit,600,GNOCCO_MAX_LIMIT\n", warning, "show", "-o", "csv", "--config", file)
	f(0, "\nsacks,7,file\n", warning, "show", "-o", "csv", "--config", file)
	f(0, "\nlisten,127.0.0.1:8041,default\n", warning, "show", "serve", "-o", "csv")
	f(0, "\npassword,(not shown),GNOCCO_PASSWORD\n", warning, "show", "import", "csv", "-o", "csv")
	f(0, "", warning, "check", "--config", file)
	f(1, "", "no command is called nothing", "check", "nothing")
	t.Setenv("GNOCCO_MAX_LIMIT", "many")
	f(1, "", `invalid argument "many" for "--max-limit"`, "check")
}
