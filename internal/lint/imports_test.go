package lint_test

import (
	"go/ast"
	"slices"
	"strings"
	"testing"
)

// layers says which packages of ours those below a folder may import; the longest folder that fits counts. Packages below one
// folder may import each other, unless a longer entry says otherwise. "*" is any.
var layers = map[string][]string{
	".":                 {},
	"carbonara":         {},
	"model":             {"carbonara"},
	"storage":           {"model", "carbonara", "internal"},
	"metricd":           {"storage", "model", "carbonara", "internal"},
	"statsd":            {"storage", "model", "carbonara", "internal"},
	"api":               {"api", ".", "storage", "model", "carbonara", "correlate", "internal", "web"},
	"api/aggregates":    {"model", "carbonara"},
	"api/influxdb":      {"carbonara"},
	"api/measures":      {"model", "carbonara"},
	"api/prometheus":    {"carbonara"},
	"api/viewer":        {},
	"gpu":               {"carbonara", "correlate"},
	"correlate":         {"carbonara"},
	"web":               {},
	"internal":          {"model", "carbonara"},
	"internal/peer":     {"storage", "model", "carbonara", "internal"},
	"internal/server":   {"*"}, // wiring with several users
	"internal/bench":    {"*"}, // runs and measures all of it
	"internal/testnode": {"*"}, // all of it without HTTP, for tests
	"cmd":               {"*"},
	"tests":             {"*"},
	"tools":             {"*"},
}

// below tells whether a folder is dir or lies below it.
func below(folder, dir string) bool { return folder == dir || strings.HasPrefix(folder, dir+"/") }

// layerOf returns the entry of layers that a folder falls under.
func layerOf(folder string) (layer string, ok bool) {
	for dir := range layers {
		if below(folder, dir) && len(dir) >= len(layer) {
			layer, ok = dir, true
		}
	}
	return layer, ok
}

// Tests may import what they like: a test of the API runs the real workers.
func TestImportsPointDown(t *testing.T) {
	for _, file := range files(t) {
		if file.test {
			continue
		}
		layer, ok := layerOf(file.dir())
		if !ok {
			t.Errorf("%s: folder %s has no place in layers", file.path, file.dir())
			continue
		}
		for _, imported := range file.imports() {
			folder, ours := strings.CutPrefix(imported, module+"/")
			if imported == module {
				folder, ours = ".", true
			}
			if !ours {
				continue
			}
			target, _ := layerOf(folder)
			allowed := slices.ContainsFunc(layers[layer], func(dir string) bool { return dir == "*" || below(target, dir) })
			if !allowed && target != layer {
				t.Errorf("%s: package %s must not import %s", file.path, file.dir(), folder)
			}
			if strings.HasPrefix(folder, "cmd/") && !strings.HasPrefix(file.path, "cmd/") {
				t.Errorf("%s: only commands import %s", file.path, folder)
			}
		}
	}
}

// forbidden are imports that nobody, or only some folders, may have. Tests are held to them too.
var forbidden = []struct {
	path, because string
	except        []string // folders
}{
	{"C", "one binary must run with and without a device", nil},
	{"log", "we log with log/slog", nil},
	{"io/ioutil", "it is deprecated", nil},
	{"math/rand", "we use math/rand/v2", nil},
	{"github.com/pkg/errors", "we wrap with fmt.Errorf", nil},
	{"github.com/spf13/cobra", "flags are read in cmd only", []string{"cmd"}},
	{"github.com/spf13/pflag", "flags are read in cmd only", []string{"cmd"}},
	{"github.com/spf13/viper", "settings are read in cmd only", []string{"cmd"}},
	{"flag", "flags are read in cmd only", []string{"cmd", "tools", "tests"}},
	{"github.com/cockroachdb/pebble", "version 2 is what we use", nil},
	{"github.com/go-chi/chi", "version 5 is what we use", nil},
}

func TestNoForbiddenImports(t *testing.T) {
	for _, file := range files(t) {
		for _, imported := range file.imports() {
			for _, rule := range forbidden {
				excepted := slices.ContainsFunc(rule.except, func(dir string) bool { return below(file.dir(), dir) })
				if imported == rule.path && !excepted && !(file.test && rule.path == "flag") { // a test's rewrite flag
					t.Errorf("%s imports %s: %s", file.path, imported, rule.because)
				}
			}
		}
	}
}

// Settings come in by options: only commands look at the environment.
func TestEnvironmentIsReadInCommands(t *testing.T) {
	for _, file := range files(t) {
		if file.test || below(file.dir(), "cmd") || below(file.dir(), "tools") {
			continue
		}
		ast.Inspect(file.ast, func(node ast.Node) bool {
			selector, ok := node.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			name := selector.Sel.Name
			if pkg, ok := selector.X.(*ast.Ident); ok && pkg.Name == "os" && (name == "Getenv" || name == "LookupEnv" || name == "Environ") {
				t.Errorf("%s: os.%s outside cmd", file.path, name)
			}
			return true
		})
	}
}
