package main

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// result is what becomes of a gate.
type result int

const (
	fine    result = iota
	without        // nothing to compare with
	red
)

// comparison is a run of the gates.
type comparison struct {
	base, head tree
	work       string // folder for test programs
	pairs      int
	limit      float64
}

// tree is one side of a comparison.
type tree struct {
	dir      string
	programs map[string]program // by package
}

// program is the test program of a package.
type program struct {
	path   string
	digest [sha256.Size]byte
	err    error // if it does not build
}

// errAbsent says that a tree has no such package or benchmark.
var errAbsent = errors.New("not there")

// compare runs a gate's benchmark on both sides and says what came of it.
func (c *comparison) compare(g *gate) (result, string) {
	pkg := c.head.find(g.packages)
	head := c.build(&c.head, "head", pkg)
	if head.err != nil {
		return red, head.err.Error()
	}
	basePkg := c.base.find(g.packages)
	base := c.build(&c.base, "base", basePkg)
	if base.err != nil {
		return without, "base: " + base.err.Error()
	}
	if base.digest == head.digest {
		return fine, "the same program"
	}
	headDir, baseDir := filepath.Join(c.head.dir, pkg), filepath.Join(c.base.dir, basePkg)
	// The first runs warm the caches, and find out whether both have the benchmark.
	if _, err := run(head.path, headDir, g); err != nil {
		return red, "head: " + err.Error()
	}
	if _, err := run(base.path, baseDir, g); err != nil {
		return without, "base: " + err.Error()
	}
	verdicts, slower, err := decide(c.limit, c.pairs, func(pair int) (ratio float64, err error) {
		var times [2]time.Duration // base, head
		for turn := range times {
			if side := (turn + pair) % 2; side == 0 {
				times[side], err = run(base.path, baseDir, g)
			} else {
				times[side], err = run(head.path, headDir, g)
			}
			if err != nil {
				return 0, err
			}
		}
		return float64(times[1]) / float64(times[0]), nil
	})
	if err != nil {
		return red, err.Error()
	}
	var text []string
	for _, v := range verdicts {
		text = append(text, v.String())
	}
	if slower {
		return red, strings.Join(text, ", again ")
	}
	return fine, strings.Join(text, ", again ")
}

// find returns the first of the packages that the tree has, "" for none.
func (t *tree) find(packages []string) string {
	for _, pkg := range packages {
		if tests, err := filepath.Glob(filepath.Join(t.dir, pkg, "*_test.go")); err == nil && len(tests) > 0 {
			return pkg
		}
	}
	return ""
}

// build builds the test program of a tree's package, once. The programs of equal sources are equal.
func (c *comparison) build(t *tree, side, pkg string) program {
	if pkg == "" {
		return program{err: fmt.Errorf("the package is %w", errAbsent)}
	}
	if p, ok := t.programs[pkg]; ok {
		return p
	}
	p := program{path: filepath.Join(c.work, side+"-"+strings.ReplaceAll(pkg, "/", "-"))}
	cmd := exec.Command("go", "test", "-c", "-trimpath", "-vet=off", "-buildvcs=false", "-o", p.path, "./"+pkg)
	cmd.Dir = t.dir
	if out, err := cmd.CombinedOutput(); err != nil {
		p.err = fmt.Errorf("build %s: %w: %s", pkg, err, out)
	} else if content, err := os.ReadFile(p.path); err != nil {
		p.err = err
	} else {
		p.digest = sha256.Sum256(content)
	}
	if t.programs == nil {
		t.programs = make(map[string]program)
	}
	t.programs[pkg] = p
	return p
}

// run runs a benchmark in a process and returns the processor time that took.
func run(program, dir string, g *gate) (time.Duration, error) {
	cmd := exec.Command(program, "-test.run=^$", "-test.bench="+g.bench, "-test.benchtime="+strconv.Itoa(g.times)+"x",
		"-test.cpu=1")
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		return 0, fmt.Errorf("%w: %s", err, out)
	}
	if !bytes.Contains(out, []byte("\nBenchmark")) {
		return 0, fmt.Errorf("the benchmark is %w", errAbsent)
	}
	return cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), nil
}
