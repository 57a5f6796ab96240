package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

var (
	count    = flag.Int("n", 100, "mutants to try")
	seed     = flag.Uint64("seed", 1, "of the choice of mutants")
	workers  = flag.Int("j", 2, "mutants side by side")
	limit    = flag.Duration("limit", 2*time.Minute, "for each run of tests")
	deadline = flag.Duration("deadline", 0, "start no mutant after this time (0: none)")
	wider    = flag.String("wider", "./tests/metamorphic ./api", "packages whose tests run last")
)

// A mutant is one change of one file.
type mutant struct {
	pkg, file string
	line      int
	before    string
	after     string
	source    []byte
}

// A place is a node that can be changed, by calling change; undo takes it back.
type place struct {
	node         ast.Node
	change, undo func()
	says         string // what the change is, where the node's own text does not show it
}

// swapped has the operators that take each other's place.
var swapped = map[token.Token]token.Token{
	token.LSS: token.LEQ, token.LEQ: token.LSS, token.GTR: token.GEQ, token.GEQ: token.GTR,
	token.EQL: token.NEQ, token.NEQ: token.EQL, token.LAND: token.LOR, token.LOR: token.LAND,
	token.ADD: token.SUB, token.SUB: token.ADD, token.MUL: token.QUO, token.QUO: token.MUL,
	token.SHL: token.SHR, token.SHR: token.SHL, token.AND: token.OR, token.OR: token.AND,
}

func main() {
	flag.Parse()
	if err := run(flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "mutate:", err)
		os.Exit(1)
	}
}

func run(patterns []string) error {
	packages, err := list(patterns)
	if err != nil {
		return err
	}
	random := rand.New(rand.NewPCG(*seed, 0))
	var mutants []mutant
	for _, p := range packages {
		of, err := mutantsOf(p, random)
		if err != nil {
			return err
		}
		mutants = append(mutants, of...)
	}
	random.Shuffle(len(mutants), func(i, j int) { mutants[i], mutants[j] = mutants[j], mutants[i] })
	mutants = mutants[:min(*count, len(mutants))]

	began, next := time.Now(), make(chan mutant)
	var group sync.WaitGroup
	var lock sync.Mutex
	outcomes := map[string]int{}
	for range *workers {
		group.Go(func() {
			for m := range next {
				outcome := try(m)
				lock.Lock()
				outcomes[outcome]++
				lock.Unlock()
				fmt.Printf("%-9s %s:%d  %s  =>  %s\n", outcome, m.file, m.line, m.before, m.after)
			}
		})
	}
	for _, m := range mutants {
		if *deadline == 0 || time.Since(began) < *deadline {
			next <- m
		}
	}
	close(next)
	group.Wait()
	fmt.Println(outcomes)
	return nil
}

type pkg struct {
	ImportPath, Dir string
	GoFiles         []string
}

func list(patterns []string) ([]pkg, error) {
	out, err := exec.Command("go", append([]string{"list", "-json=ImportPath,Dir,GoFiles"}, patterns...)...).Output()
	if err != nil {
		return nil, err
	}
	var packages []pkg
	for decoder := json.NewDecoder(bytes.NewReader(out)); decoder.More(); {
		var p pkg
		if err := decoder.Decode(&p); err != nil {
			return nil, err
		}
		packages = append(packages, p)
	}
	return packages, nil
}

// mutantsOf draws one mutant for about 40 lines of each file.
func mutantsOf(p pkg, random *rand.Rand) ([]mutant, error) {
	var mutants []mutant
	for _, name := range p.GoFiles {
		path := filepath.Join(p.Dir, name)
		source, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, path, source, parser.ParseComments)
		if err != nil {
			return nil, err
		}
		if ast.IsGenerated(file) {
			continue
		}
		places := placesOf(file)
		random.Shuffle(len(places), func(i, j int) { places[i], places[j] = places[j], places[i] })
		for _, at := range places[:min(len(places), 1+bytes.Count(source, []byte("\n"))/40)] {
			before := text(files, at.node)
			at.change()
			var mutated bytes.Buffer
			err := format.Node(&mutated, files, file)
			after := cmp.Or(at.says, text(files, at.node))
			at.undo()
			if err != nil {
				continue
			}
			relative, _ := filepath.Rel(must(os.Getwd()), path)
			mutants = append(mutants, mutant{pkg: p.ImportPath, file: relative,
				line:   files.Position(at.node.Pos()).Line,
				before: before, after: after, source: mutated.Bytes()})
		}
	}
	return mutants, nil
}

// placesOf returns the operators, conditions, numbers and calls of a file's functions that can be changed.
func placesOf(file *ast.File) []place {
	var places []place
	add := func(n ast.Node, says string, change, undo func()) {
		places = append(places, place{n, change, undo, says})
	}
	for _, declared := range file.Decls {
		function, ok := declared.(*ast.FuncDecl)
		if !ok || function.Body == nil || function.Name.Name == "String" {
			continue
		}
		ast.Inspect(function.Body, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.BinaryExpr:
				literal, _ := n.X.(*ast.BasicLit)
				if to, ok := swapped[n.Op]; ok && (literal == nil || literal.Kind != token.STRING) {
					from := n.Op
					add(n, "", func() { n.Op = to }, func() { n.Op = from })
				}
			case *ast.IfStmt:
				cond := n.Cond
				if _, binary := cond.(*ast.BinaryExpr); !binary {
					negated := &ast.UnaryExpr{Op: token.NOT, X: &ast.ParenExpr{X: cond}}
					add(cond, "negated", func() { n.Cond = negated }, func() { n.Cond = cond })
				}
			case *ast.BasicLit:
				if v, err := strconv.ParseInt(n.Value, 0, 62); n.Kind == token.INT && err == nil {
					from := n.Value
					add(n, "", func() { n.Value = strconv.FormatInt(v+1, 10) }, func() { n.Value = from })
				}
			case *ast.BlockStmt:
				for i, s := range n.List {
					if call, ok := s.(*ast.ExprStmt); ok {
						add(call, "removed", func() { n.List[i] = &ast.EmptyStmt{} }, func() { n.List[i] = call })
					}
				}
			case *ast.BranchStmt:
				if n.Tok == token.CONTINUE && n.Label == nil {
					add(n, "", func() { n.Tok = token.BREAK }, func() { n.Tok = token.CONTINUE })
				}
			}
			return true
		})
	}
	return places
}

// try returns what became of a mutant: invalid, found by its own package's tests, by those of importers or of -wider,
// or survived.
func try(m mutant) string {
	dir, err := os.MkdirTemp("", "mutate")
	if err != nil {
		return "invalid"
	}
	defer os.RemoveAll(dir)
	changed, overlay := filepath.Join(dir, "mutant.go"), filepath.Join(dir, "overlay.json")
	original := filepath.Join(must(os.Getwd()), m.file)
	replace, _ := json.Marshal(map[string]any{"Replace": map[string]string{original: changed}})
	if os.WriteFile(changed, m.source, 0o644) != nil || os.WriteFile(overlay, replace, 0o644) != nil {
		return "invalid"
	}
	if exec.Command("go", "build", "-overlay", overlay, m.pkg).Run() != nil {
		return "invalid"
	}
	if !passes(overlay, m.pkg) {
		return "own"
	}
	if importers := importersOf(m.pkg); len(importers) > 0 && !passes(overlay, importers...) {
		return "importer"
	}
	if *wider != "" && !passes(overlay, strings.Fields(*wider)...) {
		return "wider"
	}
	return "SURVIVED"
}

func passes(overlay string, packages ...string) bool {
	ctx, cancel := context.WithTimeout(context.Background(), *limit+30*time.Second)
	defer cancel()
	args := []string{"test", "-short", "-vet=off", "-failfast", "-timeout", limit.String(), "-overlay", overlay}
	return exec.CommandContext(ctx, "go", append(args, packages...)...).Run() == nil
}

var importers = sync.OnceValue(func() map[string][]string {
	out, err := exec.Command("go", "list", "-f", `{{$p := .ImportPath}}{{range .Imports}}{{.}} {{$p}}
{{end}}`, "./...").Output()
	if err != nil {
		return nil
	}
	of := map[string][]string{}
	for line := range strings.Lines(string(out)) {
		if imported, by, ok := strings.Cut(strings.TrimSpace(line), " "); ok {
			of[imported] = append(of[imported], by)
		}
	}
	return of
})

// importersOf returns at most six packages that import a package, programs apart.
func importersOf(path string) []string {
	of := slices.Clone(importers()[path])
	slices.Sort(of)
	of = slices.DeleteFunc(of, func(by string) bool { return strings.Contains(by, "/cmd/") })
	return of[:min(len(of), 6)]
}

func text(files *token.FileSet, n ast.Node) string {
	var out bytes.Buffer
	if format.Node(&out, files, n) != nil {
		return "?"
	}
	line := strings.Join(strings.Fields(out.String()), " ")
	return line[:min(len(line), 70)]
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
