package lint_test

import (
	"go/ast"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/gnocco-db/gnocco/tests/fatal"
)

// mostColumns is how wide a line of source may be; a tab at its beginning counts four columns.
const mostColumns = 120

// TestColumns holds lines to mostColumns, but for those with a piece of a text literal, which would have to be cut, and
// for generated files.
func TestColumns(t *testing.T) {
	for _, file := range files(t) {
		if ast.IsGenerated(file.ast) {
			continue
		}
		source, err := os.ReadFile(filepath.Join("..", "..", file.path))
		fatal.If(t, err)
		literal := literalLines(file)
		for i, line := range strings.Split(string(source), "\n") {
			columns := utf8.RuneCountInString(line) + 3*(len(line)-len(strings.TrimLeft(line, "\t")))
			if columns > mostColumns && !literal[i+1] {
				t.Errorf("%s:%d has %d columns, more than %d", file.path, i+1, columns, mostColumns)
			}
		}
	}
}

// TestConsoleColumns holds the console's sources to mostColumns, but for lines with a piece of a text literal, as
// TestColumns does.
func TestConsoleColumns(t *testing.T) {
	names, err := fs.Glob(os.DirFS(filepath.Join("..", "..", "console", "src")), "*")
	fatal.If(t, err)
	pages, err := fs.Glob(os.DirFS(filepath.Join("..", "..", "console", "src")), "pages/*")
	fatal.If(t, err)
	checked := 0
	for _, name := range append(names, pages...) {
		if !strings.HasSuffix(name, ".ts") && !strings.HasSuffix(name, ".tsx") && !strings.HasSuffix(name, ".css") {
			continue
		}
		checked++
		source, err := os.ReadFile(filepath.Join("..", "..", "console", "src", name))
		fatal.If(t, err)
		for i, line := range strings.Split(string(source), "\n") {
			if columns := utf8.RuneCountInString(line); columns > mostColumns && !strings.ContainsAny(line, "\"`") {
				t.Errorf("console/src/%s:%d has %d columns, more than %d", name, i+1, columns, mostColumns)
			}
		}
	}
	if checked < 30 {
		t.Errorf("%d files of the console were found, want at least 30", checked)
	}
}

// literalLines returns the numbers of the lines that a text literal has a part of.
func literalLines(file sourceFile) map[int]bool {
	found := map[int]bool{}
	ast.Inspect(file.ast, func(n ast.Node) bool {
		if text, ok := n.(*ast.BasicLit); ok && text.Kind == token.STRING {
			from, to := file.line(text.Pos()), file.line(text.End())
			for line := from; line <= to; line++ {
				found[line] = true
			}
		}
		return true
	})
	return found
}
