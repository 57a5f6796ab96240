package main

import (
	"io"
	"time"

	"github.com/spf13/cobra"
)

func newWatch() *cobra.Command {
	var remote remoteFlags
	var read readFlags
	var again repeatFlags
	cmd := &cobra.Command{
		Use:   "watch SELECTOR...",
		Short: "Show metrics repeatedly, as measures arrive",
		Long: `Show metrics as gnocco show does, again and again until it is interrupted. New metrics that the
SELECTORs mean appear by themselves.

` + selectorHelp,
		Example: `  gnocco watch house/outside
  gnocco watch '{__name__=~"node_load.*"}' --every 2s --since 1h`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := remote.client()
			if err != nil {
				return err
			}
			return again.repeat(cmd, func() (func(io.Writer) error, error) {
				t, err := showAll(cmd, c, &read, args)
				return func(out io.Writer) error { return t.write(out, "table") }, err
			})
		},
	}
	flags := cmd.Flags()
	remote.define(flags, defaultURL, "address of the server, with its prefix if it has one")
	read.define(flags, "-15m")
	again.define(flags, 5*time.Second)
	cmd.ValidArgsFunction = ask(&remote, proposeSelectors)
	completeFlags(cmd, &remote)
	return cmd
}
