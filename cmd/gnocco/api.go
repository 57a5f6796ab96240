package main

import (
	"github.com/spf13/cobra"

	"gnocco/internal/server"
)

func newAPI() *cobra.Command {
	var flags serverFlags
	cmd := &cobra.Command{
		Use:   "api",
		Short: "Serve the API, as one process of a cluster",
		Long: `Serve the REST API over a data folder that several processes share, on one machine or on a
disk that several have mounted. Measures are accepted whoever else is there; processes of
"gnocco metricd" turn them into aggregates. Any number of both may come and go in any order.

One of them holds the index, and the others pass on what they cannot answer by themselves.
All must be told the same about users: --auth-mode and what belongs to it.

Exit status 3 says that the process lost its lease, since it could not write to the data
folder for too long: start it again.`,
		Example: `  gnocco api --data /srv/gnocco --listen 127.0.0.1:8041
  gnocco api --data /mnt/shared --listen :8041 --auth-mode htpasswd --htpasswd-file users --peer-listen 10.0.0.5:8042`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return flags.serve(cmd) },
	}
	flags.defineFor(cmd.Flags(), server.RoleAPI, stateFolder("gnocco"))
	return cmd
}
