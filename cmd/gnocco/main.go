package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/gnocco-db/gnocco/backup"
	"github.com/gnocco-db/gnocco/cluster"
	"github.com/gnocco-db/gnocco/cluster/datafolder"
	"github.com/gnocco-db/gnocco/cmd/shared"
	"github.com/gnocco-db/gnocco/cmd/shared/commandline"
	"github.com/gnocco-db/gnocco/cmd/shared/process"
	"github.com/gnocco-db/gnocco/cmd/shared/remote"
)

// The process's exit statuses besides 0.
const (
	exitFailed   = 1
	exitRejected = 2 // all was done, but for some metrics, or some stores of a backup
	exitFenced   = cluster.ExitFenced
	exitFolder   = cluster.ExitRefusedFolder
)

func main() {
	program, args := newRoot(), os.Args[1:]
	if filepath.Base(os.Args[0]) == "metricd" {
		args = append([]string{"metricd"}, args...)
	}
	if cmd, _, err := program.Find(args); err == nil && commandline.RunsForLong(cmd) {
		allowLateTimers()
	}
	var err error
	if other := programOf(program, args); other != "" {
		err = process.Become(other)
	} else {
		program.SetArgs(args)
		err = program.ExecuteContext(process.UntilSignal())
	}
	if err == nil {
		return
	}
	fmt.Fprintln(os.Stderr, "gnocco:", remote.Message(err))
	if advice := remote.Advice(err); advice != "" {
		fmt.Fprintln(os.Stderr, "gnocco:", advice)
	}
	var status exitStatus
	switch {
	case errors.As(err, &status):
		os.Exit(status.code)
	case errors.Is(err, datafolder.ErrRefused):
		os.Exit(exitFolder)
	case errors.Is(err, cluster.ErrFenced):
		os.Exit(exitFenced)
	case errors.Is(err, backup.ErrIncomplete):
		os.Exit(exitRejected)
	case errors.Is(err, backup.ErrSucceeded):
		os.Exit(shared.ExitSucceeded)
	}
	os.Exit(exitFailed)
}

// exitStatus is an error that ends the process with a status of its own.
type exitStatus struct {
	code int
	err  error
}

func (e exitStatus) Error() string { return e.err.Error() }

func (e exitStatus) Unwrap() error { return e.err }
