package lint_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gnocco-db/gnocco/tests/fatal"
)

// implemented are what Go itself calls, and methods that others call through an interface without a name.
var implemented = map[string]bool{"main": true, "init": true, "Is": true, "Unwrap": true, "As": true}

// forTests are methods that tests of whole programs need, or of whole stores, or tests in modules of their own.
var forTests = map[string]bool{
	"(*server.Server).StatsdAddr":       true,
	"(*server.Server).ListenerAddr":     true,
	"(*metricd.Metricd).Compact":        true,
	"(*metricd.Metricd).Refresh":        true,
	"(*query/promql.Engine).Prometheus": true,
}

// A name that only tests use is no part of a package: delete it, or move it into a file of tests. Every program of the
// tree counts as a user, with the packages that it is made of, in any module. Constants are exempt: an enumeration is
// complete.
func TestNamesAreUsedOutsideTests(t *testing.T) {
	u := usage{set: token.NewFileSet(), linked: make(map[string]bool), used: make(map[string]bool)}
	root, err := filepath.Abs(filepath.Join("..", ".."))
	fatal.If(t, err)
	for _, dir := range moduleFolders(t, root) {
		u.modules = append(u.modules, checkTypes(t, u.set, dir))
	}
	product := u.modules[0]
	u.link()
	for _, m := range u.modules {
		for _, p := range m.packages {
			if u.linked[p.types.Path()] {
				u.record(p)
			}
		}
	}
	u.recordInterfaces(product)
	for _, p := range product.packages {
		if u.linked[p.types.Path()] {
			u.report(t, root, p)
		}
	}
}

// moduleFolders returns root and the folders of the modules below it that need the product's.
func moduleFolders(t *testing.T, root string) []string {
	t.Helper()
	folders := []string{root}
	err := filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		base := entry.Name()
		switch {
		case err != nil:
			return err
		case entry.IsDir() && name != root &&
			(strings.HasPrefix(base, ".") || base == "testdata" || base == "bin" || base == "node_modules"):
			return filepath.SkipDir
		case base == "go.mod" && filepath.Dir(name) != root:
			text, err := os.ReadFile(name)
			if strings.Contains(string(text), "\t"+module+" v") || strings.Contains(string(text), "require "+module+" v") {
				folders = append(folders, filepath.Dir(name))
			}
			return err
		}
		return nil
	})
	fatal.If(t, err)
	return folders
}

type checkedPackage struct {
	files []*ast.File
	types *types.Package
	info  types.Info
}

type checkedModule struct {
	packages []*checkedPackage
	imported map[*types.Package]bool // packages of other modules that some package imports
}

// checkTypes checks the types of a module's packages, without tests.
func checkTypes(t *testing.T, set *token.FileSet, dir string) *checkedModule {
	t.Helper()
	list := exec.Command("go", "list", "-deps", "-export",
		"-json=Dir,ImportPath,Export,GoFiles,DepOnly,ImportMap", "./...")
	list.Dir = dir
	list.Stderr = os.Stderr
	out, err := list.Output()
	if err != nil {
		t.Fatalf("%s: %v", dir, err)
	}
	m := &checkedModule{imported: make(map[*types.Package]bool)}
	exports, checked := make(map[string]string), make(map[string]*types.Package)
	fromExports := importer.ForCompiler(set, "gc", func(path string) (io.ReadCloser, error) {
		return os.Open(exports[path])
	})
	for decoder := json.NewDecoder(strings.NewReader(string(out))); ; { // a package after those that it imports
		var listed struct {
			Dir, ImportPath, Export string
			GoFiles                 []string
			DepOnly                 bool
			ImportMap               map[string]string
		}
		if err := decoder.Decode(&listed); errors.Is(err, io.EOF) {
			return m
		} else if err != nil {
			t.Fatal(err)
		}
		exports[listed.ImportPath] = listed.Export
		if listed.DepOnly || len(listed.GoFiles) == 0 {
			continue
		}
		p := &checkedPackage{info: types.Info{Uses: make(map[*ast.Ident]types.Object),
			Defs: make(map[*ast.Ident]types.Object), Types: make(map[ast.Expr]types.TypeAndValue)}}
		for _, name := range listed.GoFiles {
			file, err := parser.ParseFile(set, filepath.Join(listed.Dir, name), nil, parser.SkipObjectResolution)
			fatal.If(t, err)
			p.files = append(p.files, file)
		}
		config := types.Config{Importer: importerFunc(func(path string) (*types.Package, error) {
			if mapped := listed.ImportMap[path]; mapped != "" {
				path = mapped
			}
			if p := checked[path]; p != nil {
				return p, nil
			}
			imported, err := fromExports.Import(path)
			m.imported[imported] = err == nil
			return imported, err
		})}
		if p.types, err = config.Check(listed.ImportPath, set, p.files, &p.info); err != nil {
			t.Fatal(err)
		}
		checked[listed.ImportPath] = p.types
		m.packages = append(m.packages, p)
	}
}

type importerFunc func(path string) (*types.Package, error)

func (f importerFunc) Import(path string) (*types.Package, error) { return f(path) }

// usage is what the programs of the tree use.
type usage struct {
	set     *token.FileSet
	modules []*checkedModule
	linked  map[string]bool // paths of packages that are part of a program
	used    map[string]bool // by key
}

// key identifies an object whether its package was checked here or comes from export data, which knows lines only, and
// no folders after -trimpath.
func (u *usage) key(o types.Object) string {
	at, folder := u.set.Position(o.Pos()), ""
	if o.Pkg() != nil {
		folder = o.Pkg().Path()
	}
	return fmt.Sprintf("%s/%s:%d %s", folder, filepath.Base(at.Filename), at.Line, o.Name())
}

// link finds the packages that are part of a program. A program below tests helps tests.
func (u *usage) link() {
	all := make(map[string]*types.Package)
	for _, m := range u.modules {
		for _, p := range m.packages {
			all[p.types.Path()] = p.types
		}
	}
	var visit func(p *types.Package)
	visit = func(p *types.Package) {
		if p == nil || u.linked[p.Path()] {
			return
		}
		u.linked[p.Path()] = true
		for _, imported := range p.Imports() {
			visit(all[imported.Path()])
		}
	}
	for path, p := range all {
		if p.Name() == "main" && !strings.HasPrefix(path, module+"/tests/") {
			visit(p)
		}
	}
}

// record notes the names that a package uses, also by encoding a field with a tag. A method's receiver is no use of its
// type.
func (u *usage) record(p *checkedPackage) {
	for _, file := range p.files {
		ast.Inspect(file, func(node ast.Node) bool {
			switch n := node.(type) {
			case *ast.FuncDecl:
				if n.Recv != nil {
					for _, field := range n.Recv.List {
						ast.Inspect(field.Type, func(node ast.Node) bool {
							if name, ok := node.(*ast.Ident); ok {
								delete(p.info.Uses, name)
							}
							return true
						})
					}
				}
			case *ast.Field:
				for _, name := range n.Names {
					if n.Tag != nil {
						u.used[u.key(p.info.Defs[name])] = true
					}
				}
			case *ast.CompositeLit:
				if s, ok := p.info.Types[n].Type.Underlying().(*types.Struct); ok && len(n.Elts) > 0 {
					if _, keyed := n.Elts[0].(*ast.KeyValueExpr); !keyed {
						for field := range s.Fields() {
							u.used[u.key(field)] = true
						}
					}
				}
			}
			return true
		})
	}
	for _, o := range p.info.Uses {
		u.used[u.key(o)] = true
	}
}

// recordInterfaces notes the methods that are used through an interface.
func (u *usage) recordInterfaces(product *checkedModule) {
	interfaces := make(map[string]map[*types.Interface]bool) // by a method's name
	add := func(t types.Type, foreign bool) {
		i, ok := t.Underlying().(*types.Interface)
		if !ok {
			return
		}
		for m := range i.Methods() {
			if foreign || u.used[u.key(m)] {
				if interfaces[m.Name()] == nil {
					interfaces[m.Name()] = make(map[*types.Interface]bool)
				}
				interfaces[m.Name()][i] = true
			}
		}
	}
	add(types.Universe.Lookup("error").Type(), true)
	for p := range product.imported {
		for _, name := range p.Scope().Names() {
			if o, ok := p.Scope().Lookup(name).(*types.TypeName); ok {
				add(o.Type(), true)
			}
		}
	}
	for _, p := range product.packages {
		for expression, t := range p.info.Types {
			if _, ok := expression.(*ast.InterfaceType); ok && u.linked[p.types.Path()] {
				add(t.Type, false)
			}
		}
	}
	for _, p := range product.packages {
		for _, o := range p.info.Defs {
			name, ok := o.(*types.TypeName)
			if !ok || types.IsInterface(name.Type()) {
				continue
			}
			receiver := types.NewPointer(name.Type())
			for method := range types.NewMethodSet(receiver).Methods() { // also those of embedded fields
				f := method.Obj()
				for i := range interfaces[f.Name()] {
					if !u.used[u.key(f)] && types.Implements(receiver, i) {
						u.used[u.key(f)] = true
					}
				}
			}
		}
	}
}

// report names what a package declares and no program uses.
func (u *usage) report(t *testing.T, root string, p *checkedPackage) {
	t.Helper()
	for _, o := range p.info.Defs {
		if o == nil || o.Name() == "_" || u.used[u.key(o)] {
			continue
		}
		kind := ""
		switch o := o.(type) {
		case *types.TypeName:
			if o.Parent() == p.types.Scope() {
				kind = "type"
			}
		case *types.Func:
			if !implemented[o.Name()] && !forTests[strings.ReplaceAll(o.FullName(), module+"/", "")] {
				kind = "function"
			}
		case *types.Var:
			if o.IsField() && !o.Embedded() {
				kind = "field"
			} else if o.Parent() == p.types.Scope() {
				kind = "variable"
			}
		}
		if kind != "" {
			at := u.set.Position(o.Pos())
			name, _ := filepath.Rel(root, at.Filename)
			t.Errorf("%s:%d: no program uses the %s %s", filepath.ToSlash(name), at.Line, kind, o.Name())
		}
	}
}
