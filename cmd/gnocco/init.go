package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gnocco-db/gnocco/cluster/datafolder"
	"github.com/gnocco-db/gnocco/cmd/shared"
	"github.com/gnocco-db/gnocco/internal/counted"
)

func newInit() *cobra.Command {
	var data string
	terms := datafolder.Terms{Coordination: datafolder.CoordinationFile}
	cmd := &cobra.Command{
		Use:   "init",
		Short: "Make the data folder of a new cluster",
		Long: `Make a data folder for a cluster, or show the cluster that it holds. The servers of a cluster do not
make its folder by themselves: on a machine without the mount they would start a second cluster, and
what that accepted would be lost.

This machine remembers the cluster, and refuses any other in this folder from then on.`,
		Example: `  gnocco init --data /mnt/shared/gnocco --sacks 64`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			terms.State = shared.StateOf(terms.State, data)
			terms.Coordination, _, _ = strings.Cut(terms.Coordination, "://")
			c, made, err := datafolder.Init(data, terms)
			if err != nil {
				return err
			}
			verb := "holds"
			if made {
				verb = "is new and holds"
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s %s the cluster %s, %s\n", data, verb, c.ID, counted.Of(c.Sacks, "sack"))
			return err
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&data, "data", shared.StateFolder("gnocco"), "data folder")
	flags.StringVar(&terms.Cluster, "cluster-id", "", "name of the new cluster (default: a random one)")
	flags.IntVar(&terms.Sacks, "sacks", 0, "number of sacks, into which the metrics are divided (default: 16)")
	flags.StringVar(&terms.Coordination, "coordination", datafolder.CoordinationFile,
		"how the servers will find each other, as they are told")
	flags.StringVar(&terms.State, "state", "", shared.StateUsage)
	return cmd
}
