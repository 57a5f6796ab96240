package lint_test

import (
	"go/ast"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/gnocco-db/gnocco/tests/fatal"
)

// libraries are the packages that other programs may import (docs/reference/libraries.md), and the packages of ours
// that come with them.
var libraries = table(
	"carbonara: carbonara/intcodec carbonara/ranked carbonara/sketch "+
		"internal/compensated internal/corruption internal/decimal internal/parallel internal/simd",
	"correlate: correlate/tile internal/parallel",
	"gpu/correlate: correlate correlate/tile gpu/cu gpu/device gpu/kernels internal/parallel",
	"storage/claim: internal/corruption internal/fulldisk internal/pause storage storage/engine",
)

func TestLibrariesStandAlone(t *testing.T) {
	imports := make(map[string]map[string]bool) // of ours, by folder
	for _, file := range files(t) {
		if file.test {
			continue
		}
		if imports[file.dir()] == nil {
			imports[file.dir()] = make(map[string]bool)
		}
		for _, imported := range file.imports() {
			if folder, ours := strings.CutPrefix(imported, module+"/"); ours {
				imports[file.dir()][folder] = true
			}
		}
	}
	for library, want := range libraries {
		closure := make(map[string]bool)
		var visit func(folder string)
		visit = func(folder string) {
			for imported := range imports[folder] {
				if !closure[imported] {
					closure[imported] = true
					visit(imported)
				}
			}
		}
		visit(library)
		if got := slices.Sorted(maps.Keys(closure)); !slices.Equal(got, want) {
			t.Errorf("%s comes with %q, not with %q", library, got, want)
		}
	}
}

// groups are the folders of one library: names that one uses of another do not cross its seam.
var groups = [][]string{{"carbonara"}, {"correlate", "gpu"}, {"storage/claim", "storage/engine"}}

var surfaceRow = regexp.MustCompile("(?m)^\\| `([a-z/]+)` \\| (\\d+) \\|$")

// The rest of the tree uses no more names of a library than docs/decisions/0119-libraries.md says. Its numbers only
// fall.
func TestSurfacesOnlyFall(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "decisions", "0119-libraries.md"))
	fatal.If(t, err)
	most := make(map[string]int)
	for _, row := range surfaceRow.FindAllStringSubmatch(string(page), -1) {
		most[row[1]], err = strconv.Atoi(row[2])
		fatal.If(t, err)
	}
	if len(most) < len(groups) {
		t.Fatalf("the page has numbers of %d packages", len(most))
	}
	used := make(map[string]map[string]bool)
	for _, file := range files(t) {
		outside := slices.ContainsFunc([]string{"bench", "tests", "tools"}, func(top string) bool {
			return below(file.dir(), top)
		})
		if file.test || outside {
			continue
		}
		for library := range most {
			if slices.ContainsFunc(groups, func(group []string) bool {
				inside := func(folder string) bool {
					return slices.ContainsFunc(group, func(dir string) bool { return below(folder, dir) })
				}
				return inside(library) && inside(file.dir())
			}) {
				continue
			}
			if used[library] == nil {
				used[library] = make(map[string]bool)
			}
			file.namesOf(library, used[library])
		}
	}
	for library, n := range most {
		switch now := len(used[library]); {
		case now > n:
			t.Errorf("the tree uses %d names of %s, more than %d: %q", now, library, n,
				slices.Sorted(maps.Keys(used[library])))
		case now < n:
			t.Errorf("the tree uses %d names of %s: lower the number on the page, which is %d", now, library, n)
		}
	}
}

// namesOf adds the names of a package that the file uses.
func (f sourceFile) namesOf(folder string, names map[string]bool) {
	for _, spec := range f.ast.Imports {
		if strings.Trim(spec.Path.Value, `"`) != module+"/"+folder {
			continue
		}
		local := path.Base(folder)
		if spec.Name != nil {
			local = spec.Name.Name
		}
		ast.Inspect(f.ast, func(node ast.Node) bool {
			if selector, ok := node.(*ast.SelectorExpr); ok {
				// A name that the file declares is resolved: it is a variable.
				if x, ok := selector.X.(*ast.Ident); ok && x.Name == local && x.Obj == nil {
					names[selector.Sel.Name] = true
				}
			}
			return true
		})
	}
}
