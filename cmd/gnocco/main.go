package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/gnocco-db/gnocco/backup"
	"github.com/gnocco-db/gnocco/cluster"
	"github.com/gnocco-db/gnocco/cluster/datafolder"
	"github.com/gnocco-db/gnocco/cmd/shared"
	"github.com/gnocco-db/gnocco/cmd/shared/process"
	"github.com/gnocco-db/gnocco/cmd/shared/remote"
	"github.com/gnocco-db/gnocco/cmd/shared/series"
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
	if cmd, _, err := program.Find(args); err == nil && runsForLong(cmd) {
		allowLateTimers()
	}
	program.SetArgs(args)
	err := program.ExecuteContext(process.UntilSignal())
	if err == nil {
		return
	}
	fmt.Fprintln(os.Stderr, "gnocco:", series.Message(err))
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

// runsForLong reports whether a command is a server. Only these have a log.
func runsForLong(cmd *cobra.Command) bool { return cmd.Flags().Lookup("log-level") != nil }

// exitStatus is an error that ends the process with a status of its own.
type exitStatus struct {
	code int
	err  error
}

func (e exitStatus) Error() string { return e.err.Error() }

func (e exitStatus) Unwrap() error { return e.err }
