package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
)

// event is one line of go test -json.
type event struct {
	Action     string
	Package    string
	ImportPath string // of what is being built
	Test       string
	Elapsed    float64 // seconds
	Output     string
}

func main() {
	s := summary{out: os.Stdout, outputs: make(map[string][]string), broken: make(map[string]bool)}
	if err := s.read(os.Stdin); err != nil {
		fmt.Fprintln(os.Stderr, "testsum:", err)
		os.Exit(1)
	}
	fmt.Printf("%d passed, %d failed, %d skipped\n", s.passed, s.failed, s.skipped)
	if s.failed > 0 {
		os.Exit(1)
	}
}

type summary struct {
	out                     io.Writer
	outputs                 map[string][]string // by package and test, until the test ends
	broken                  map[string]bool     // packages in which a test failed
	passed, failed, skipped int
}

func (s *summary) read(in io.Reader) error {
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		var e event
		if json.Unmarshal(lines.Bytes(), &e) != nil {
			fmt.Fprintln(s.out, lines.Text()) // what the go command says itself
			continue
		}
		s.take(e)
	}
	return lines.Err()
}

func (s *summary) take(e event) {
	name := e.Package + " " + e.Test
	switch e.Action {
	case "output":
		s.outputs[name] = append(s.outputs[name], e.Output)
	case "build-output":
		fmt.Fprint(s.out, e.Output)
	case "pass", "skip":
		if e.Test == "" {
			fmt.Fprintf(s.out, "%-6s%-48s%8.2fs\n", e.Action, e.Package, e.Elapsed)
		} else if e.Action == "pass" {
			s.passed++
		} else {
			s.skipped++
		}
		delete(s.outputs, name)
	case "fail":
		for _, line := range s.outputs[name] {
			fmt.Fprint(s.out, line)
		}
		delete(s.outputs, name)
		if e.Test != "" {
			s.failed++
			s.broken[e.Package] = true
			return
		}
		fmt.Fprintf(s.out, "%-6s%-48s%8.2fs\n", "FAIL", e.Package, e.Elapsed)
		if !s.broken[e.Package] { // it did not build, or ended outside a test
			s.failed++
		}
	}
}
