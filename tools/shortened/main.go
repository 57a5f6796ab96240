package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

const module = "github.com/gnocco-db/gnocco/"

// declaration is a function, method, variable or constant of a folder.
type declaration struct{ folder, name string }

// graph is what each declaration names. Only names are compared, so it may hold more than is called, and nothing less.
type graph map[declaration][]declaration

func main() {
	g, err := read(os.Args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "shortened:", err)
		os.Exit(1)
	}
	fmt.Printf("^(%s)$\n", strings.Join(g.tests(), "|"))
}

// read takes tests from folders, and the packages for tests that they import.
func read(folders []string) (graph, error) {
	g := graph{}
	done := map[string]bool{}
	for len(folders) > 0 {
		folder := path.Clean(folders[0])
		folders = folders[1:]
		if done[folder] {
			continue
		}
		done[folder] = true
		imported, err := g.add(folder)
		if err != nil {
			return nil, err
		}
		folders = append(folders, imported...)
	}
	return g, nil
}

// add reads a folder and returns the folders of packages for tests that it imports.
func (g graph) add(folder string) (imported []string, err error) {
	files, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil {
		return nil, err
	}
	for _, name := range files {
		if !strings.HasSuffix(name, "_test.go") && !strings.HasPrefix(folder, "tests/") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		within := []string{folder}
		for _, spec := range file.Imports {
			if at, ok := strings.CutPrefix(strings.Trim(spec.Path.Value, `"`), module); ok && strings.HasPrefix(at, "tests/") {
				within = append(within, at)
			}
		}
		imported = append(imported, within[1:]...)
		for _, decl := range file.Decls {
			for _, name := range declared(decl) {
				from := declaration{folder, name}
				for _, used := range named(decl) {
					for _, at := range within {
						g[from] = append(g[from], declaration{at, used})
					}
				}
			}
		}
	}
	return imported, nil
}

// tests are the names of the tests that reach testing.Short.
func (g graph) tests() []string {
	var found []string
	reached := map[declaration]bool{}
	for again := true; again; {
		again = false
		for from, used := range g {
			if reached[from] || !slices.ContainsFunc(used, func(d declaration) bool { return d.name == "Short" || reached[d] }) {
				continue
			}
			reached[from], again = true, true
			if strings.HasPrefix(from.name, "Test") || strings.HasPrefix(from.name, "Fuzz") {
				found = append(found, from.name)
			}
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}

func declared(decl ast.Decl) []string {
	switch decl := decl.(type) {
	case *ast.FuncDecl:
		return []string{decl.Name.Name}
	case *ast.GenDecl:
		var names []string
		for _, spec := range decl.Specs {
			if values, ok := spec.(*ast.ValueSpec); ok {
				for _, name := range values.Names {
					names = append(names, name.Name)
				}
			}
		}
		return names
	}
	return nil
}

func named(decl ast.Decl) []string {
	var names []string
	ast.Inspect(decl, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			names = append(names, id.Name)
		}
		return true
	})
	return names
}
