package lint_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/gnocco-db/gnocco/tests/fatal"
)

var (
	requirement = regexp.MustCompile(`(?m)^(?:require )?\t?([a-z][\w.-]*\.[a-z]+/\S+) v\S+( // indirect)?$`)
	tool        = regexp.MustCompile(`(?m)^(?:tool )?\t?([a-z][\w.-]*\.[a-z]+/\S+)$`)
	listed      = regexp.MustCompile("`([a-z][\\w.-]*\\.[a-z]+/[^`]+)`")
)

// explainedModules are the folders of the modules whose requirements decision 2 explains.
var explainedModules = []string{".", "bench", "cmd/gnocco-client", "cmd/gnocco-correlate", "cmd/gnocco-backup", "cmd/gnocco-import",
	"tests/prometheus", "tests/console", "tools/pinned"}

// Each module that we require ourselves has a line in decision 2, and each line there has its module.
func TestDependenciesAreExplained(t *testing.T) {
	read := func(name string) string {
		text, err := os.ReadFile(filepath.Join("..", "..", filepath.FromSlash(name)))
		fatal.If(t, err)
		return string(text)
	}
	required := make(map[string]bool)
	for _, folder := range explainedModules {
		mod := read(folder + "/go.mod")
		for _, m := range requirement.FindAllStringSubmatch(mod, -1) {
			if m[2] == "" && !below(m[1], module) {
				required[m[1]] = true
			}
			for _, used := range tool.FindAllStringSubmatch(mod, -1) {
				if below(used[1], m[1]) {
					required[m[1]] = true
				}
			}
		}
	}
	if len(required) < 10 {
		t.Fatalf("found only %d requirements in go.mod", len(required))
	}
	explained := make(map[string]bool)
	for line := range strings.Lines(read("docs/decisions/0002-dependencies.md")) {
		if cells := strings.Split(line, "|"); len(cells) > 1 {
			for _, m := range listed.FindAllStringSubmatch(cells[1], -1) {
				explained[m[1]] = true
			}
		}
	}
	for name := range required {
		if !explained[name] {
			t.Errorf("docs/decisions/0002-dependencies.md does not say what %s spares us", name)
		}
	}
	for name := range explained {
		if !required[name] {
			t.Errorf("docs/decisions/0002-dependencies.md explains %s, which go.mod does not require", name)
		}
	}
}
