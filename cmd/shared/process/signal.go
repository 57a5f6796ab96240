package process

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

// UntilSignal returns a context that ends with the first signal to stop: the command then ends in order. A second
// SIGINT or SIGTERM ends the process at once.
func UntilSignal() context.Context {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// A terminal that closes may send SIGHUP twice, from the shell and from the kernel, so the second one must not end
	// the process. Under nohup it is ignored.
	if !signal.Ignored(syscall.SIGHUP) {
		ctx, _ = signal.NotifyContext(ctx, syscall.SIGHUP)
	}
	context.AfterFunc(ctx, stop)
	return ctx
}
