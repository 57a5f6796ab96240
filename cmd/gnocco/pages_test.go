package main_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/gnocco-db/gnocco/tests/fatal"
)

// The commands of pages that are no tutorials work in place: a server's folder and address stand in for the page's.
func TestCommandsOfPages(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skip("no curl")
	}
	data := filepath.Join(t.TempDir(), "data")
	one := serve(t, "--data", data)
	defer one.end(syscall.SIGTERM)
	other := serve(t, "--data", filepath.Join(t.TempDir(), "other"))
	defer other.end(syscall.SIGTERM)
	rules := filepath.Join(t.TempDir(), "node.yml")
	fatal.If(t, os.WriteFile(rules, []byte("groups: [{name: node, rules: [{record: a, expr: vector(1)}, "+
		"{alert: b, expr: up == 0}]}]"), 0o600))
	inPlace := strings.NewReplacer(
		"gnocco restore --from /mnt/backup/gnocco --data /srv/gnocco", "gnocco restore --from backup --data restored",
		"/srv/gnocco", data, "/mnt/backup/gnocco", "backup", "house/outside", "x/cpu",
		"generic/house/metric/outside", "generic/x/metric/cpu", `project_id="p"`, `project_id="x"`,
		"http://127.0.0.1:8041", one.url, "http://other:8041", other.url, "node.yml", rules,
	)
	run := func(t *testing.T, page, command string, want ...string) {
		t.Helper()
		commands := "export PATH=$PWD/bin:$PATH GNOCCO_URL=" + one.url + " url=" + one.url + "\n"
		ran := 0
		for _, block := range shellBlocks(t, "../../docs/"+page) {
			if strings.HasPrefix(block, command) {
				commands += inPlace.Replace(block) + "\n"
				ran++
			}
		}
		if ran == 0 {
			t.Errorf("%s has no block that begins with %q", page, command)
		}
		printed := shell(t, commands)
		for _, text := range want {
			if !regexp.MustCompile(text).MatchString(printed) {
				t.Errorf("%s: %q does not match\n%s", page, text, printed)
			}
		}
	}
	shell(t, `curl -sSf -u admin: -H 'Content-Type: application/json' `+one.url+
		`/v1/resource/generic -d '{"id": "x", "project_id": "x"}'
(echo time,cpu,cpu1
for i in $(seq 60 -1 0); do v=$((i * i % 17)); echo $(date -u -d "-$((5 * i)) min" +%FT%H:%M),$v,$((v + 1)); done) |
bin/gnocco import csv --url `+one.url+` --resource x --archive-policy low -`)

	run(t, "reference/promql.md", "curl", `"status":"success"`, `"value"`)
	run(t, "how-to/correlate.md", "gnocco correlate", `\) (1|0\.9{12}\d*)\n`)
	run(t, "how-to/correlate.md", "curl", `"id"`)
	run(t, "how-to/import-and-export.md", "gnocco export", "122 measures")
	run(t, "how-to/back-up.md", "gnocco ", "2 metrics there, 0 new")
	run(t, "how-to/recording-rules.md", "gnocco rules", "applied: node", "left to vmalert: node/b", `admin +node +a +1m0s.* (waiting|evaluating|recorded)`)
	run(t, "how-to/size.md", "gnocco size", "disk, at rest", "CPU, requests of 10,000")

	for _, program := range []struct{ name, begins, want string }{
		{"pandas", "python3 - <<'END'\nimport pandas\n", "61 16.0\n"}, {"R", "Rscript - <<'END'\n", "61 16 \n"},
	} {
		t.Run(program.name, func(t *testing.T) {
			if missing := missingInterpreter(program.begins); missing != "" {
				t.Skip(missing + " is not installed")
			}
			run(t, "how-to/import-and-export.md", program.begins, program.want)
		})
	}
}
