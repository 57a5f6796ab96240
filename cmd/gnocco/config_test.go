package main_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/gnocco-db/gnocco/tests/fatal"
)

// config says where each setting comes from, and names variables that set nothing.
func TestConfig(t *testing.T) {
	withoutCredentials(t)
	file := filepath.Join(t.TempDir(), "gnocco.toml")
	fatal.If(t, os.WriteFile(file, []byte("max-limit = 500\nsacks = 7\n"), 0o600))
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
	f(1, "", warning, "check", "--config", file)
	f(1, "", "no command is called nothing", "check", "nothing")
	f(0, "\n# most items on one page of a list\n#max-limit = 1000\n", warning, "example")
	f(0, "\n#select = []\n", warning, "example", "restore")
	f(1, "", "no command is called nothing", "example", "nothing")
	for setting, values := range map[string][]string{"listen": {"nope", ":", "host:99999", "127.0.0.1"},
		"graphite-listen": {"2003"}, "peer-listen": {"unix:/x"}, "statsd-listen": {"/run/x"}, "pprof": {"6060"}} {
		name := "GNOCCO_" + strings.ToUpper(strings.ReplaceAll(setting, "-", "_"))
		for _, value := range values {
			t.Setenv(name, value)
			f(1, "", `invalid argument "`+value+`" for "--`+setting+`": not an address`, "check")
		}
		t.Setenv(name, "")
	}
	fatal.If(t, os.WriteFile(file, []byte("listen = \"\"\n"), 0o600))
	f(1, "", `invalid argument "" for "--listen": not an address`, "check", "--config", file)
	t.Setenv("GNOCCO_STATSD_LISTEN", "unix:/run/x")
	f(0, "\nstatsd-listen,unix:/run/x,GNOCCO_STATSD_LISTEN\n", "", "show", "-o", "csv")
	for _, name := range []string{"GNOCCO_max_limit", "gnocco_max_limit", "Gnocco_Max_Limit"} {
		t.Setenv(name, "1")
		f(1, "", "warning: "+name+" is no setting of any command", "check")
	}
	t.Setenv("GNOCCO_MAX_LIMIT", "many")
	f(1, "", `invalid argument "many" for "--max-limit"`, "check")
}

// The example of each command is a file that this command reads as its defaults.
func TestConfigExample(t *testing.T) {
	withoutCredentials(t)
	setting := regexp.MustCompile(`(?m)^#(\S+ = )`)
	for _, command := range []string{"serve", "metricd", "demo", "restore", "import csv"} {
		args := strings.Fields(command)
		example, stderr, status := run(t, "", append([]string{"config", "example"}, args...)...)
		file := filepath.Join(t.TempDir(), "gnocco.toml")
		fatal.If(t, os.WriteFile(file, []byte(setting.ReplaceAllString(example, "$1")), 0o600))
		before, _, _ := run(t, "", append([]string{"config", "show", "-o", "csv"}, args...)...)
		after, stderr2, status2 := run(t, "", append([]string{"config", "show", "-o", "csv", "--config", file}, args...)...)
		if n := strings.Count(after, ",file\n"); status != 0 || status2 != 0 || n < 4 || n != strings.Count(after, "\n")-1 ||
			before != strings.ReplaceAll(after, ",file\n", ",default\n") {
			t.Errorf("%s: %s%s%s\n%s", command, stderr, stderr2, before, after)
		}
	}
}
