package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/gnocco-db/gnocco/backup"
	"github.com/gnocco-db/gnocco/cluster"
	"github.com/gnocco-db/gnocco/cluster/datafolder"
	"github.com/gnocco-db/gnocco/cmd/shared"
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
	if cmd, _, err := program.Find(args); err == nil && runsForLong(cmd) {
		allowLateTimers()
	}
	program.SetArgs(args)
	err := program.ExecuteContext(untilSignal())
	if err == nil {
		return
	}
	fmt.Fprintln(os.Stderr, "gnocco:", message(err))
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

// untilSignal returns a context that ends with the first signal to stop: the command then ends in order. A second
// SIGINT or SIGTERM ends the process at once.
func untilSignal() context.Context {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// A terminal that closes may send SIGHUP twice, from the shell and from the kernel, so the second one must not end
	// the process. Under nohup it is ignored.
	if !signal.Ignored(syscall.SIGHUP) {
		ctx, _ = signal.NotifyContext(ctx, syscall.SIGHUP)
	}
	context.AfterFunc(ctx, stop)
	return ctx
}

// exitStatus is an error that ends the process with a status of its own.
type exitStatus struct {
	code int
	err  error
}

func (e exitStatus) Error() string { return e.err.Error() }

func (e exitStatus) Unwrap() error { return e.err }
