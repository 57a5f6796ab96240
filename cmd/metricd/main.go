package main

import (
	"fmt"
	"os"
	"syscall"

	"github.com/gnocco-db/gnocco/cmd/shared/process"
)

func main() {
	err := become(os.Args[1:])
	fmt.Fprintln(os.Stderr, "metricd:", err)
	os.Exit(1)
}

// become replaces this process. It returns only if it cannot.
func become(args []string) error {
	program, err := process.Find("gnocco")
	if err != nil {
		return err
	}
	return syscall.Exec(program, append([]string{program, "metricd"}, args...), os.Environ())
}
