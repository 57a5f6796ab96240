package main

import (
	"github.com/spf13/cobra"

	"github.com/gnocco-db/gnocco/bench"
)

func newIndex(flags *commonFlags) *cobra.Command {
	var what bench.IndexOptions
	cmd := &cobra.Command{
		Use:   "index",
		Short: "Measure how fast resources are created, listed and searched for, and the memory and disk they take",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return bench.Index(cmd.Context(), flags.options, what)
		},
	}
	cmd.Flags().IntVar(&what.Resources, "resources", 100_000, "resources to create, of five metrics each")
	cmd.Flags().IntVar(&what.Batch, "batch", 500, "resources per request; 1 uses the request that Gnocchi has, too")
	cmd.Flags().IntVar(&what.Connections, "connections", 4, "requests in flight at once while resources are created")
	cmd.Flags().IntVar(&what.Requests, "requests", 200, "how often each list and search is requested")
	return cmd
}
