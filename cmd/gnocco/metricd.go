package main

import (
	"github.com/spf13/cobra"

	"gnocco/internal/server"
)

func newMetricd() *cobra.Command {
	var flags serverFlags
	cmd := &cobra.Command{
		Use:   "metricd",
		Short: "Process measures, as one process of a cluster",
		Long: `Turn the measures that processes of "gnocco api" accept into aggregates, and keep these. The
sacks are spread over all processes of metricd that there are: one that comes gets its share
from the others, and those that are left take over from one that goes or dies.

Exit status 3 says that the process lost its lease, since it could not write to the data
folder for too long: start it again.`,
		Example: `  gnocco metricd --data /srv/gnocco
  gnocco metricd --data /mnt/shared --peer-listen 10.0.0.6:8042 --weight 2 --listen 127.0.0.1:9041`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return flags.serve(cmd) },
	}
	flags.defineFor(cmd.Flags(), server.RoleMetricd, stateFolder("gnocco"))
	return cmd
}
