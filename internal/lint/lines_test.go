package lint_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gnocco-db/gnocco/tests/fatal"
)

// mostLines is the ceiling of decision 0088, which goes down to 80,000.
const mostLines = 119_044

// The product's module has a budget of lines of Go that somebody wrote, tests and tools apart.
func TestLinesAreFew(t *testing.T) {
	lines := 0
	for _, file := range files(t) {
		top, _, _ := strings.Cut(file.path, "/")
		if file.test || top == "tools" || top == "tests" || top == "deploy" || ofAnotherModule(file.dir()) {
			continue
		}
		text, err := os.ReadFile(filepath.Join("..", "..", file.path))
		fatal.If(t, err)
		if !bytes.Contains(text, []byte("\n// Code generated")) && !bytes.HasPrefix(text, []byte("// Code generated")) {
			lines += bytes.Count(text, []byte("\n"))
		}
	}
	if lines > mostLines {
		t.Errorf("the product's module has %d lines of Go by hand, more than %d", lines, mostLines)
	}
	if lines < mostLines-2000 {
		t.Errorf("the product's module has %d lines of Go by hand: lower the ceiling of %d", lines, mostLines)
	}
}

// ofAnotherModule reports whether a folder, or one above it, has a go.mod and is not the root.
func ofAnotherModule(dir string) bool {
	for ; dir != "."; dir = filepath.Dir(dir) {
		if exists(dir + "/go.mod") {
			return true
		}
	}
	return false
}
