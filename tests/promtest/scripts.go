package promtest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gnocco-db/gnocco/tests/fatal"
)

// Script is a piece of a file that comes with Prometheus' engine: series to load, and expressions to evaluate then.
type Script struct {
	Load  string
	Evals []Eval
}

// Eval is an expression and its expected result.
type Eval struct {
	Name string // file:line
	Text string
}

// ReadScripts cuts the files of Prometheus' module into pieces.
func ReadScripts(t testing.TB) []Script {
	t.Helper()
	module, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/prometheus/prometheus").Output()
	fatal.If(t, err)
	files, err := filepath.Glob(filepath.Join(strings.TrimSpace(string(module)), "promql/promqltest/testdata/*.test"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no scripts in %s: %v", module, err)
	}
	var scripts []Script
	for _, file := range files {
		content, err := os.ReadFile(file)
		fatal.If(t, err)
		current := Script{}
		finish := func() {
			if len(current.Evals) > 0 {
				scripts = append(scripts, current)
			}
		}
		lines := strings.Split(string(content), "\n")
		for i := 0; i < len(lines); {
			line := strings.TrimSpace(lines[i])
			if line == "" || strings.HasPrefix(line, "#") {
				i++
				continue
			}
			from := i
			for i++; i < len(lines) && strings.TrimSpace(lines[i]) != ""; i++ {
				if first := strings.Fields(lines[i]); len(lines[i]) > 0 && lines[i][0] != ' ' && lines[i][0] != '\t' &&
					(strings.HasPrefix(first[0], "eval") || strings.HasPrefix(first[0], "load") ||
						first[0] == "clear") {
					break
				}
			}
			text := strings.Join(lines[from:i], "\n") + "\n"
			switch {
			case line == "clear":
				finish()
				current = Script{}
			case strings.HasPrefix(line, "load"):
				finish()
				current = Script{Load: current.Load + "\n" + text}
			case strings.HasPrefix(line, "eval"):
				current.Evals = append(current.Evals, Eval{fmt.Sprintf("%s:%d", filepath.Base(file), from+1), text})
			}
		}
		finish()
	}
	return scripts
}
