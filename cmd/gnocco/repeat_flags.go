package main

import (
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/gnocco-db/gnocco/cmd/shared/progress"
	"github.com/gnocco-db/gnocco/internal/pause"
)

// repeatFlags say how often a command shows something.
type repeatFlags struct {
	every time.Duration
	count int
}

func (f *repeatFlags) define(flags *pflag.FlagSet, every time.Duration) {
	flags.DurationVar(&f.every, "every", every, "time between two tables")
	flags.IntVar(&f.count, "count", 0, "number of tables; 0: until it is interrupted")
}

// repeat writes again and again what read has read, on a terminal over what was there.
func (f *repeatFlags) repeat(cmd *cobra.Command, read func() (write func(io.Writer) error, err error)) error {
	if f.every < 100*time.Millisecond {
		return errors.New("--every must be at least 100ms")
	}
	out := cmd.OutOrStdout()
	for n := 1; ; n++ {
		write, err := read()
		if cmd.Context().Err() != nil {
			return nil // interrupted
		}
		if err != nil {
			return err
		}
		before := "" // the table
		if progress.IsTerminal(out) {
			before = "\x1b[H\x1b[2J"
		}
		if _, err := fmt.Fprintf(out, "%s%s\n", before, time.Now().UTC().Format(time.RFC3339)); err != nil {
			return err
		}
		if err := write(out); err != nil {
			return err
		}
		if n == f.count || pause.For(cmd.Context(), f.every) != nil {
			return nil
		}
	}
}
