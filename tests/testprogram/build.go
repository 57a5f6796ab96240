package testprogram

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// elsewhere are the programs with a module of their own: the module's folder, and the package in it.
var elsewhere = map[string]struct{ module, pkg string }{
	"gnocco-bench":     {"bench", "./cmd/gnocco-bench"},
	"gnocco-backup":    {"cmd/gnocco-backup", "."},
	"gnocco-client":    {"cmd/gnocco-client", "."},
	"gnocco-correlate": {"cmd/gnocco-correlate", "."},
	"gnocco-import":    {"cmd/gnocco-import", "."},
	"gnocco-migrate":   {"cmd/gnocco-migrate", "."},
}

// upToDate is set where `make programs` has just run, so that no test has the go command look at 700 packages again.
const upToDate = "PROGRAMS_ARE_BUILT"

// Build builds programs by name and returns the folder in which they lie. It is bin/test: a program that is up to
// date there is not linked again, and a test's result that the go command remembers holds for that very program.
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
	for _, name := range names {
		if _, err := os.Stat(filepath.Join(dir, name)); err == nil && os.Getenv(upToDate) != "" {
			continue
		}
		place, ok := elsewhere[name]
		if !ok {
			place.pkg = "./cmd/" + name
		}
		build := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w", "-o", dir, place.pkg)
		// by the go.mod of the program, also for tests of another module
		build.Dir = filepath.Join(strings.TrimSpace(string(root)), place.module)
		if out, err := build.CombinedOutput(); err != nil {
			return "", fmt.Errorf("build %s: %w\n%s", name, err, out)
		}
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			return "", err
		}
	}
	return dir, nil
}
