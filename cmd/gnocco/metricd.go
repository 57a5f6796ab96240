package main

import (
	"github.com/spf13/cobra"

	"github.com/gnocco-db/gnocco/cluster"
	"github.com/gnocco-db/gnocco/cmd/shared"
)

func newMetricd() *cobra.Command {
	var flags serverFlags
	cmd := &cobra.Command{
		Use:   "metricd",
		Short: "Turn measures into aggregates, as one process of a cluster",
		Long: `Turn the measures that processes of "gnocco api" accept into aggregates, and keep these. The
sacks are spread over all running processes of metricd: a new process gets its share from the
others, and the remaining ones take over from a process that ends or dies.

Exit status 3 means that the process lost its lease, because it could not write to the data
folder for too long: start it again. Status 4 means that the data folder is not the cluster's own:
its mount is missing or dead.`,
		Example: `  gnocco init --data /srv/gnocco
  gnocco metricd --data /srv/gnocco
  gnocco metricd --data /mnt/shared --peer-listen 10.0.0.6:8042 --weight 2 --listen 127.0.0.1:9041`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return flags.serve(cmd) },
	}
	flags.defineFor(cmd.Flags(), cluster.RoleMetricd, shared.StateFolder("gnocco"))
	return cmd
}
