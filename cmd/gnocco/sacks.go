package main

import (
	"context"
	"fmt"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/spf13/cobra"

	"github.com/gnocco-db/gnocco/cluster"
	"github.com/gnocco-db/gnocco/cluster/datafolder"
	"github.com/gnocco-db/gnocco/cmd/shared"
	"github.com/gnocco-db/gnocco/internal/counted"
	"github.com/gnocco-db/gnocco/server"
)

func newSacks() *cobra.Command {
	var data string
	var to int
	cmd := &cobra.Command{
		Use:   "sacks",
		Short: "Change the number of sacks of a data folder that no server uses",
		Long: `Change the number of sacks of a data folder that no server uses. Sacks are the parts into which
the metrics are divided; their number limits how many processes can share the work. The command
processes all accepted measures, then copies all archives, which takes as much space again. If
it is interrupted, run it again: it continues, and until then no server starts on the folder.`,
		Example: `  gnocco sacks --data /srv/gnocco --to 64`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			out := cmd.OutOrStdout()
			drain := func(ctx context.Context) error {
				return server.Drain(ctx, server.Options{Cluster: cluster.Options{Data: data}})
			}
			err := datafolder.Repartition(cmd.Context(), vfs.Default, data, to, drain, func(p datafolder.Progress) {
				fmt.Fprintf(out, "%d of %s copied\n", p.Copied, counted.Of(p.Sacks, "sack"))
			})
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(out, "%s has %s\n", data, counted.Of(to, "sack"))
			return err
		},
	}
	cmd.Flags().StringVar(&data, "data", shared.StateFolder("gnocco"), "data folder")
	cmd.Flags().IntVar(&to, "to", 0, "new number of sacks")
	if err := cmd.MarkFlagRequired("to"); err != nil {
		panic(err) // the flag is defined above
	}
	return cmd
}
