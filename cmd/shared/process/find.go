package process

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
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
		return "", fmt.Errorf("the program %s is needed, and neither beside %s nor in PATH: make build makes both", name,
			self)
	}
	return path, nil
}
