package lint_test

import (
	"fmt"
	"os"
	"regexp"
	"testing"

	"github.com/gnocco-db/gnocco/tests/fatal"
)

// The page on testing has the suites of .ci/run, in their order, with their budgets. Without the lane beside, in which
// suites are indented, these are 30 minutes at most, and that lane takes no longer than the one that it is beside.
func TestSuitesAreThoseOfThePage(t *testing.T) {
	find := func(path, pattern string) (suites []string) {
		content, err := os.ReadFile("../../" + path)
		fatal.If(t, err)
		for _, m := range regexp.MustCompile(pattern).FindAllStringSubmatch(string(content), -1) {
			suites = append(suites, m[1]+" "+m[2])
		}
		return suites
	}
	run, page := find(".ci/run", `(?m)^ *suite ([a-z]+) ([0-9]+) `), find("docs/explain/testing.md",
		"(?m)^\\| `([a-z]+)` \\| ([0-9]+) \\|")
	if len(run) == 0 || fmt.Sprint(run) != fmt.Sprint(page) {
		t.Errorf(".ci/run has %q, docs/explain/testing.md %q", run, page)
	}
	seconds := func(pattern string) (total int) {
		for _, suite := range find(".ci/run", pattern) {
			var name string
			var seconds int
			if _, err := fmt.Sscan(suite, &name, &seconds); err != nil {
				t.Fatal(err)
			}
			total += seconds
		}
		return total
	}
	if total := seconds(`(?m)^suite ([a-z]+) ([0-9]+) `); total > 30*60 {
		t.Errorf("the budgets add up to %d s", total)
	}
	beside := seconds(`(?m)^suite (test) ([0-9]+) `)
	if lane := seconds(`(?m)^ +suite ([a-z]+) ([0-9]+) `); lane > beside {
		t.Errorf("the lane beside has %d s, more than the %d of the other", lane, beside)
	}
}
