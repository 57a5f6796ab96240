package lint_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/gnocco-db/gnocco/tests/fatal"
)

// module is the name in go.mod.
const module = "github.com/gnocco-db/gnocco"

// sourceFile is a parsed Go file of the tree.
type sourceFile struct {
	path string // from the root of the tree, with slashes
	ast  *ast.File
	set  *token.FileSet
	test bool
}

// line returns the number, from 1 on, of the line at pos.
func (f sourceFile) line(pos token.Pos) int { return f.set.Position(pos).Line }

// dir is the folder of the file's package, "." for the root.
func (f sourceFile) dir() string { return path.Dir(f.path) }

// imports returns the paths that the file imports.
func (f sourceFile) imports() []string {
	var all []string
	for _, spec := range f.ast.Imports {
		all = append(all, strings.Trim(spec.Path.Value, `"`))
	}
	return all
}

// files returns every Go file of the tree, parsed once.
func files(t *testing.T) []sourceFile {
	t.Helper()
	all, err := parsed()
	fatal.If(t, err)
	if len(all) < 10 {
		t.Fatalf("found only %d Go files", len(all))
	}
	return all
}

var parsed = sync.OnceValues(func() (all []sourceFile, err error) {
	root := filepath.Join("..", "..")
	err = filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		base := entry.Name()
		if entry.IsDir() {
			if rel != "." && (strings.HasPrefix(base, ".") || base == "testdata" || base == "bin") {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(base, ".go") {
			return nil
		}
		source, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, name, source, parser.ParseComments)
		if err != nil {
			return err
		}
		all = append(all, sourceFile{filepath.ToSlash(rel), file, set, strings.HasSuffix(base, "_test.go")})
		return nil
	})
	return all, err
})
