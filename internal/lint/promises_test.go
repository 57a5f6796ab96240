package lint_test

import (
	"go/ast"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/gnocco-db/gnocco/tests/fatal"
)

// Each promise of the page on operating names tests that exist, or kinds of long runs that do, and each once; a long
// run names tests that exist.
func TestPromisesNameTheirTests(t *testing.T) {
	read := func(path string) string {
		content, err := os.ReadFile("../../" + path)
		fatal.If(t, err)
		return string(content)
	}
	tests := make(map[string]bool)
	for _, file := range files(t) {
		for _, declaration := range file.ast.Decls {
			if f, ok := declaration.(*ast.FuncDecl); ok && file.test && f.Recv == nil &&
				strings.HasPrefix(f.Name.Name, "Test") {
				tests[f.Name.Name] = true
			}
		}
	}
	long := read("tools/long.sh")
	for _, m := range regexp.MustCompile(`\^(Test\w+)\$'`).FindAllStringSubmatch(long, -1) {
		if !tests[m[1]] {
			t.Errorf("tools/long.sh: there is no %s", m[1])
		}
	}
	_, table, _ := strings.Cut(read("docs/explain/promises.md"), "| promise | test |\n| --- | --- |\n")
	table, _, _ = strings.Cut(table, "\n\n")
	rows := strings.Split(strings.TrimSuffix(table, "\n"), "\n")
	if len(rows) < 20 {
		t.Fatalf("docs/explain/promises.md has %d promises", len(rows))
	}
	for _, row := range rows {
		cells := strings.Split(strings.Trim(row, "| "), " | ")
		if len(cells) != 2 {
			t.Errorf("docs/explain/promises.md: not a promise and its tests: %s", row)
			continue
		}
		seen := make(map[string]bool)
		_, kinds, _ := strings.Cut(cells[1], "`make long`")
		for _, m := range regexp.MustCompile("`([a-z]+)`").FindAllStringSubmatch(kinds, -1) {
			if seen[m[1]] = true; !strings.Contains(long, "\n    "+m[1]+")") {
				t.Errorf("docs/explain/promises.md: make long has no kind %s: %s", m[1], cells[0])
			}
		}
		for _, m := range regexp.MustCompile("`(Test\\w+)`").FindAllStringSubmatch(cells[1], -1) {
			if !tests[m[1]] || seen[m[1]] {
				t.Errorf("docs/explain/promises.md: %s is not a test, or is named twice: %s", m[1], cells[0])
			}
			seen[m[1]] = true
		}
		if len(seen) == 0 {
			t.Errorf("docs/explain/promises.md: nothing tests %s", cells[0])
		}
	}
}
