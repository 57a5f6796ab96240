// Package libraries imports the packages for other programs from a module of its own.
package libraries

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/gnocco-db/gnocco/tests/fatal"
)

// goMod is the one of docs/reference/libraries.md.
const goMod = `module example.com/outside

go 1.26.7

require github.com/gnocco-db/gnocco v0.0.0

replace github.com/gnocco-db/gnocco => %s
`

// The examples of the libraries are programs of another module, which has nothing but this tree and what that needs.
func TestExamplesRunInAnotherModule(t *testing.T) {
	root, err := filepath.Abs(filepath.Join("..", ".."))
	fatal.If(t, err)
	outside := t.TempDir()
	write := func(name string, content []byte) {
		t.Helper()
		name = filepath.Join(outside, name)
		fatal.If(t, os.MkdirAll(filepath.Dir(name), 0o750))
		fatal.If(t, os.WriteFile(name, content, 0o600))
	}
	write("go.mod", fmt.Appendf(nil, goMod, root))
	for _, name := range []string{"go.sum", "carbonara/example_test.go", "correlate/example_test.go",
		"gpu/correlate/example_test.go", "storage/claim/example_test.go"} {
		content, err := os.ReadFile(filepath.Join(root, name))
		fatal.If(t, err)
		write(name, content)
	}
	run := exec.Command("go", "test", "-mod=mod", "-vet=off", "-run=^Example", "./...")
	run.Dir = outside
	run.Env = append(os.Environ(), "GOWORK=off") // a fresh module cache may lack a go.mod
	if out, err := run.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}
