package process

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// Find returns the path of another program of ours: beside this one, or in PATH.
func Find(name string) (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	if path, err := exec.LookPath(filepath.Join(filepath.Dir(self), name)); err == nil {
		return path, nil
	}
	path, err := exec.LookPath(name)
	if err != nil {
		return "", fmt.Errorf("the program %s is needed, and neither beside %s nor in PATH: install %[1]s, "+
			"which Gnocco's packages and archives have, or run make build", name, self)
	}
	return path, nil
}

// Become has another program of ours take the place of this process, with the name by which this one was called, its
// arguments and its environment.
func Become(name string) error {
	path, err := Find(name)
	if err != nil {
		return err
	}
	return fmt.Errorf("%s: %w", path, unix.Exec(path, os.Args, os.Environ()))
}
