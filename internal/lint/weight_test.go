package lint_test

import (
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/gnocco-db/gnocco/tests/fatal"
)

// mostPackages is how many packages of the standard library and of other modules the program may be linked from:
// docs/decisions/0088-the-house.md. A room of ours that is divided into two adds no weight.
const mostPackages = 634

// mostFileBytes is what a file of the repository may have: above all programs are larger, which a `go build` leaves
// behind.
const mostFileBytes = 2 << 20

func TestFilesAreSmall(t *testing.T) {
	list := exec.Command("git", "ls-files", "-z")
	list.Dir = "../.."
	out, err := list.Output()
	if err != nil {
		t.Skip("not a checkout:", err)
	}
	for _, name := range strings.FieldsFunc(string(out), func(r rune) bool { return r == 0 }) {
		if info, err := os.Lstat("../../" + name); err == nil && info.Size() > mostFileBytes {
			t.Errorf("%s has %d bytes, more than %d", name, info.Size(), mostFileBytes)
		}
	}
}

func TestPackagesAreFew(t *testing.T) {
	list := exec.Command("go", "list", "-deps", "-f", "{{.ImportPath}}{{with .Module}} {{.Path}} {{.Version}}{{end}}",
		module+"/cmd/gnocco")
	list.Env = append(os.Environ(), "CGO_ENABLED=0")
	out, err := list.Output()
	fatal.If(t, err)
	if n := strings.Count(string(out), "\n") - strings.Count("\n"+string(out), "\n"+module+"/"); n > mostPackages {
		t.Errorf("gnocco has %d packages of others, more than %d", n, mostPackages)
	}
	checkLicenses(t, string(out))
}

// checkLicenses requires that `gnocco licenses` has each module of the program, at its version, and no other.
func checkLicenses(t *testing.T, packages string) {
	t.Helper()
	text, err := os.ReadFile("../../cmd/gnocco/licenses.txt")
	fatal.If(t, err)
	const advice = "; go generate ./cmd/gnocco writes the file anew"
	linked := make(map[string]bool)
	for _, m := range regexp.MustCompile(`(?m)^\S+ (\S+\.\S+ v\S+)$`).FindAllStringSubmatch(packages, -1) {
		linked[m[1]] = true
		if !strings.Contains("\n"+string(text), "\n"+m[1]+"\n") {
			t.Errorf("cmd/gnocco/licenses.txt lacks %s%s", m[1], advice)
		}
	}
	for _, m := range regexp.MustCompile(`(?m)^([a-z][\w.-]*\.[a-z]+/\S+ v\d\S+)$`).FindAllStringSubmatch(string(text),
		-1) {
		if !linked[m[1]] {
			t.Errorf("cmd/gnocco/licenses.txt has %s, which is not linked%s", m[1], advice)
		}
	}
}
