package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
)

// event is one line of go test -json.
type event struct {
	Action  string
	Package string
	Test    string
	Elapsed float64 // seconds
	Output  string
}

func main() {
	s := newSummary(os.Stdout)
	if err := s.read(os.Stdin); err != nil {
		fmt.Fprintln(os.Stderr, "testsum:", err)
		os.Exit(1)
	}
	s.end()
	if s.failed > 0 {
		os.Exit(1)
	}
}

type summary struct {
	out                     io.Writer
	outputs                 map[string][]string // by package and test, until the test ends
	broken                  map[string]bool     // packages in which a test failed
	reasons                 map[string]int      // why tests were skipped, and how many
	passed, failed, skipped int
}

func newSummary(out io.Writer) *summary {
	return &summary{
		out: out, outputs: make(map[string][]string),
		broken: make(map[string]bool), reasons: make(map[string]int),
	}
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
		s.add(e)
	}
	return lines.Err()
}

// short returns a package's import path without the place where the project is published.
func short(path string) string { return strings.TrimPrefix(path, "github.com/gnocco-db/") }

func (s *summary) add(e event) {
	name := e.Package + " " + e.Test
	switch e.Action {
	case "output":
		s.outputs[name] = append(s.outputs[name], e.Output)
	case "build-output":
		fmt.Fprint(s.out, e.Output)
	case "pass", "skip":
		if e.Test == "" {
			fmt.Fprintf(s.out, "%-6s%-48s%8.2fs\n", e.Action, short(e.Package), e.Elapsed)
		} else if e.Action == "pass" {
			s.passed++
		} else {
			s.skipped++
			s.reasons[reason(s.outputs[name])]++
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
		fmt.Fprintf(s.out, "%-6s%-48s%8.2fs\n", "FAIL", short(e.Package), e.Elapsed)
		if !s.broken[e.Package] { // it did not build, or ended in the midst of tests
			s.failed++
			for _, name := range slices.Sorted(maps.Keys(s.outputs)) {
				if strings.HasPrefix(name, e.Package+" ") {
					fmt.Fprint(s.out, strings.Join(s.outputs[name], ""))
				}
			}
		}
	}
}

// logged is a line that a test logs: t.Skip's comes last.
var logged = regexp.MustCompile(`^ +[^ :]+\.go:[0-9]+: (.*)$`)

// reason returns why a test was skipped: its last log message, from the first line on.
func reason(output []string) string {
	for _, text := range slices.Backward(output) {
		if m := logged.FindStringSubmatch(strings.TrimRight(text, "\n")); m != nil {
			return m[1]
		}
	}
	return "no reason is given"
}

// end prints why tests were skipped, the most frequent reason first, and how many tests there were.
func (s *summary) end() {
	often := func(a, b string) int {
		if s.reasons[a] != s.reasons[b] {
			return s.reasons[b] - s.reasons[a]
		}
		return strings.Compare(a, b)
	}
	for _, why := range slices.SortedFunc(maps.Keys(s.reasons), often) {
		fmt.Fprintf(s.out, "skipped %4d: %s\n", s.reasons[why], why)
	}
	fmt.Fprintf(s.out, "%d passed, %d failed, %d skipped\n", s.passed, s.failed, s.skipped)
}
