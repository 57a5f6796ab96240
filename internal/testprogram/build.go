package testprogram

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// Build builds programs, named by their folders below cmd, and returns the folder in which they lie. It is bin/test: a
// program that is up to date there is not linked again, and a test's result that the go command remembers holds for
// that very program.
func Build(names ...string) (dir string, err error) {
	root, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/gnocco-db/gnocco").Output()
	if err != nil {
		return "", fmt.Errorf("find the module's folder: %w", err)
	}
	dir = filepath.Join(strings.TrimSpace(string(root)), "bin", "test")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	// The go command runs the tests of several packages at a time.
	lock, err := os.OpenFile(filepath.Join(dir, ".lock"), os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return "", err
	}
	defer lock.Close()
	if err := unix.Flock(int(lock.Fd()), unix.LOCK_EX); err != nil {
		return "", fmt.Errorf("lock %s: %w", lock.Name(), err)
	}
	args := []string{"build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w", "-o", dir}
	for _, name := range names {
		args = append(args, "github.com/gnocco-db/gnocco/cmd/"+name)
	}
	build := exec.Command("go", args...)
	build.Dir = strings.TrimSpace(string(root)) // by its go.mod, also for tests of another module
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build %v: %w\n%s", names, err, out)
	}
	for _, name := range names {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			return "", err
		}
	}
	return dir, nil
}
