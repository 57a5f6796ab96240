package main

import "github.com/spf13/cobra"

func newServe() *cobra.Command {
	var flags serverFlags
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Serve the API, and process what it accepts",
		Long: `Serve the REST API, and turn the measures that it accepts into aggregates, in one process.

The data folder holds all there is. Other processes may share it, see "gnocco api" and
"gnocco metricd". An end by SIGTERM or SIGINT is orderly: requests are finished and measures
brought into the archives. Any other end loses nothing that was answered with 202: it is
processed at the next start, or by another process.`,
		Example: `  gnocco serve --data /var/lib/gnocco --listen 127.0.0.1:8041
  curl -u admin: http://127.0.0.1:8041/v1/archive_policy`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return flags.serve(cmd) },
	}
	flags.define(cmd.Flags(), stateFolder("gnocco"))
	return cmd
}
