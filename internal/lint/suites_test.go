package lint_test

import (
	"fmt"
	"os"
	"regexp"
	"testing"

	"github.com/gnocco-db/gnocco/tests/fatal"
)

// The page on testing has the suites of .ci/run, in their order, with their budgets; in all those are 30 minutes at
// most.
func TestSuitesAreThoseOfThePage(t *testing.T) {
	find := func(path, pattern string) (suites []string) {
		content, err := os.ReadFile("../../" + path)
		fatal.If(t, err)
		for _, m := range regexp.MustCompile(pattern).FindAllStringSubmatch(string(content), -1) {
			suites = append(suites, m[1]+" "+m[2])
		}
		return suites
	}
	run, page := find(".ci/run", `(?m)^suite ([a-z]+) ([0-9]+) `), find("docs/explain/testing.md",
		"(?m)^\\| `([a-z]+)` \\| ([0-9]+) \\|")
	if len(run) == 0 || fmt.Sprint(run) != fmt.Sprint(page) {
		t.Errorf(".ci/run has %q, docs/explain/testing.md %q", run, page)
	}
	total := 0
	for _, suite := range run {
		var name string
		var seconds int
		if _, err := fmt.Sscan(suite, &name, &seconds); err != nil {
			t.Fatal(err)
		}
		total += seconds
	}
	if total > 30*60 {
		t.Errorf("the budgets add up to %d s", total)
	}
}
