package main

import (
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/gnocco-db/gnocco/cmd/shared/series"
	"github.com/gnocco-db/gnocco/internal/client"
)

func newWatch() *cobra.Command {
	var read series.ReadFlags
	var again repeatFlags
	cmd := &cobra.Command{
		Use:   "watch SELECTOR...",
		Short: "Show metrics repeatedly, as measures arrive",
		Long: `Show metrics as gnocco show does, again and again until it is interrupted. New metrics that the
SELECTORs mean appear by themselves.

` + series.SelectorHelp,
		Example: `  gnocco watch house/outside
  gnocco watch '{__name__=~"node_load.*"}' --every 2s --since 1h`,
		Args: cobra.MinimumNArgs(1),
	}
	remote := askServer(cmd, func(cmd *cobra.Command, c *client.Client, args []string) error {
		return again.repeat(cmd, func() (func(io.Writer) error, error) {
			t, err := showAll(cmd, c, &read, args)
			return func(out io.Writer) error { return t.write(out, "table") }, err
		})
	})
	read.Define(cmd.Flags(), "-15m")
	again.define(cmd.Flags(), 5*time.Second)
	cmd.ValidArgsFunction = ask(remote, proposeSelectors)
	completeFlags(cmd, remote)
	return cmd
}
