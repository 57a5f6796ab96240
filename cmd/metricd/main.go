package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
)

func main() {
	err := become(os.Args[1:])
	fmt.Fprintln(os.Stderr, "metricd:", err)
	os.Exit(1)
}

// become replaces this process. It returns only if it cannot.
func become(args []string) error {
	program, err := find()
	if err != nil {
		return err
	}
	return syscall.Exec(program, append([]string{program, "metricd"}, args...), os.Environ())
}

// find returns the path of gnocco.
func find() (string, error) {
	own, err := os.Executable()
	if err != nil {
		return "", err
	}
	beside := filepath.Join(filepath.Dir(own), "gnocco")
	if info, err := os.Stat(beside); err == nil && !info.IsDir() {
		return beside, nil
	}
	return exec.LookPath("gnocco")
}
