package lint_test

import (
	"os/exec"
	"strings"
	"testing"
)

// mostPackages is what the program may be linked from: docs/decisions/0050-weight.md.
const mostPackages = 750

func TestPackagesAreFew(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", module+"/cmd/gnocco").Output()
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(out), "\n"); n > mostPackages {
		t.Errorf("gnocco has %d packages, more than %d", n, mostPackages)
	}
}
