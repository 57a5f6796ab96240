package main

import (
	"github.com/spf13/cobra"

	"gnocco/internal/bench"
)

func newBenchIndex(flags *benchFlags) *cobra.Command {
	var what bench.IndexOptions
	cmd := &cobra.Command{
		Use:   "index",
		Short: "Resources of five metrics created, listed and searched for; memory and disk for it",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return bench.Index(cmd.Context(), flags.options, what)
		},
	}
	cmd.Flags().IntVar(&what.Resources, "resources", 100_000, "resources created, of five metrics each")
	cmd.Flags().IntVar(&what.Batch, "batch", 500, "resources in one request; 1 takes the request that every server has")
	cmd.Flags().IntVar(&what.Connections, "connections", 4, "requests under way at once while creating")
	cmd.Flags().IntVar(&what.Requests, "requests", 200, "of each question")
	return cmd
}
