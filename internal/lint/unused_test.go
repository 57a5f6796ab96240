package lint_test

import (
	"go/ast"
	"go/token"
	"path"
	"strings"
	"testing"
)

// exported is a package's exported names of one kind: folder, then name, then the file that declares it.
type exported map[string]map[string]string

func (e exported) add(file sourceFile, name string) {
	if !ast.IsExported(name) {
		return
	}
	if e[file.dir()] == nil {
		e[file.dir()] = make(map[string]string)
	}
	e[file.dir()][name] = file.path
}

// implemented are methods that only other modules call: by an interface of theirs or by reflection.
var implemented = map[string]bool{
	"MarshalText": true, "UnmarshalText": true, "MarshalJSON": true, "UnmarshalJSON": true, // encoding
	"Is": true, "Unwrap": true, "Len": true, "Less": true, "Swap": true, // errors, sort
	"Pop": true, "Type": true, // heap, pflag
	"Describe": true,                     // prometheus.Collector
	"Infof":    true, "MergeOlder": true, // pebble.Logger, pebble.ValueMerger
	"Colors": true, "Dims": true, "Z": true, // gonum's plotter and palette
	"AtST": true, "AtHistogram": true, "AtFloatHistogram": true, "Seek": true, // Prometheus' chunkenc.Iterator,
	"LabelNames": true, "LabelValues": true, // storage.Querier
}

// forTests are methods that tests of whole programs need.
var forTests = map[string]bool{"StatsdAddr": true}

// What only tests use is no part of a package: it goes, or into an export_test.go. Functions, types and variables are
// known by package and name; a method counts as used where anything of its name is.
func TestExportedNamesAreUsedOutsideTests(t *testing.T) {
	declared, methods := make(exported), make(exported)
	uses := make(map[string]map[string]bool) // folder: names of it that code uses, here or elsewhere
	mentioned := make(map[string]bool)       // names that code uses of anything
	imported := make(map[string]bool)        // folders that code imports: others hold commands, or help tests
	for _, file := range files(t) {
		if file.test || helpsTests(file.dir()) || below(file.dir(), "tests") {
			continue
		}
		use := func(folder, name string) {
			if uses[folder] == nil {
				uses[folder] = make(map[string]bool)
			}
			uses[folder][name] = true
		}
		packages := make(map[string]string) // by what the file calls them: folders
		for _, spec := range file.ast.Imports {
			full := strings.Trim(spec.Path.Value, `"`)
			folder, ours := strings.CutPrefix(full, module+"/")
			if !ours {
				continue
			}
			name := path.Base(folder)
			if spec.Name != nil {
				name = spec.Name.Name
			}
			packages[name] = folder
			imported[folder] = true
		}
		names := make(map[*ast.Ident]bool) // that declare something
		for _, declaration := range file.ast.Decls {
			switch d := declaration.(type) {
			case *ast.FuncDecl:
				names[d.Name] = true
				if d.Recv != nil {
					methods.add(file, d.Name.Name)
				} else {
					declared.add(file, d.Name.Name)
				}
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					switch s := spec.(type) {
					case *ast.TypeSpec:
						names[s.Name] = true
						declared.add(file, s.Name.Name)
					case *ast.ValueSpec:
						for _, name := range s.Names {
							names[name] = true
							if d.Tok != token.CONST { // an enumeration is complete
								declared.add(file, name.Name)
							}
						}
					}
				}
			}
		}
		var visit func(ast.Node) bool
		visit = func(node ast.Node) bool {
			switch n := node.(type) {
			case *ast.FuncDecl: // its receiver is no use of the type
				ast.Inspect(n.Type, visit)
				if n.Body != nil {
					ast.Inspect(n.Body, visit)
				}
				return false
			case *ast.SelectorExpr:
				if x, ok := n.X.(*ast.Ident); ok && packages[x.Name] != "" {
					use(packages[x.Name], n.Sel.Name)
				}
			case *ast.Ident:
				if !names[n] {
					use(file.dir(), n.Name)
					mentioned[n.Name] = true
				}
			}
			return true
		}
		ast.Inspect(file.ast, visit)
	}
	for folder, all := range declared {
		if !imported[folder] {
			continue
		}
		for name, where := range all {
			if !uses[folder][name] {
				t.Errorf("%s: only tests use %s.%s", where, path.Base(folder), name)
			}
		}
	}
	for folder, all := range methods {
		if !imported[folder] {
			continue
		}
		for name, where := range all {
			if !mentioned[name] && !implemented[name] && !forTests[name] {
				t.Errorf("%s: only tests use the method %s", where, name)
			}
		}
	}
}
