package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/gnocco-db/gnocco/internal/pause"
	"github.com/gnocco-db/gnocco/internal/progress"
)

func newWatch() *cobra.Command {
	var remote remoteFlags
	var read readFlags
	var every time.Duration
	var count int
	cmd := &cobra.Command{
		Use:   "watch SELECTOR...",
		Short: "Show metrics again and again, as measures come in",
		Long: `Show metrics as gnocco show does, again and again until it is interrupted. New metrics that the
SELECTORs mean appear by themselves.

` + selectorHelp,
		Example: `  gnocco watch house/outside
  gnocco watch '{__name__=~"node_load.*"}' --every 2s --since 1h`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if every < 100*time.Millisecond {
				return errors.New("--every must be at least 100ms")
			}
			c, err := remote.client()
			if err != nil {
				return err
			}
			out := cmd.OutOrStdout()
			for n := 1; ; n++ {
				t, err := showAll(cmd, c, &read, args)
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
				if err := t.write(out, "table"); err != nil {
					return err
				}
				if n == count || pause.For(cmd.Context(), every) != nil {
					return nil
				}
			}
		},
	}
	flags := cmd.Flags()
	remote.define(flags, defaultURL, "address of the server, with its prefix if it has one")
	read.define(flags, "-15m")
	flags.DurationVar(&every, "every", 5*time.Second, "time between two tables")
	flags.IntVar(&count, "count", 0, "number of tables; 0: until it is interrupted")
	cmd.ValidArgsFunction = ask(&remote, proposeSelectors)
	completeFlags(cmd, &remote)
	return cmd
}
