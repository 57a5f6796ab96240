package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"gnocco/internal/server"
)

// The process's exit statuses besides 0.
const (
	exitFailed   = 1
	exitRejected = 2 // all was done, but for some lines or metrics
	exitFenced   = server.ExitFenced
)

func main() {
	// The first signal asks to stop, and what runs ends in order; the second one ends the process at once.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	err := newRoot().ExecuteContext(ctx)
	if err == nil {
		return
	}
	fmt.Fprintln(os.Stderr, "gnocco:", err)
	var status exitStatus
	switch {
	case errors.As(err, &status):
		os.Exit(status.code)
	case errors.Is(err, errRejected):
		os.Exit(exitRejected)
	case errors.Is(err, server.ErrFenced):
		os.Exit(exitFenced)
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
