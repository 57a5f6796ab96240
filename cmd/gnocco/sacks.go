package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"gnocco/internal/server"
)

func newSacks() *cobra.Command {
	var options server.Options
	var to int
	cmd := &cobra.Command{
		Use:   "sacks",
		Short: "Change the number of sacks of a data folder that is not served",
		Long: `Change the number of sacks of a data folder that is not served: how many parts its metrics are
divided into, which is how many processes can share the work. Everything accepted is processed,
then all archives are copied, which takes as much space again. What is cut short is gone on with
by the same command; until then no server starts on the folder.`,
		Example: `  gnocco sacks --data /srv/gnocco --to 64`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			out := cmd.OutOrStdout()
			err := server.Repartition(cmd.Context(), options, to, func(p server.Progress) {
				fmt.Fprintf(out, "%d of %d sacks copied\n", p.Copied, p.Sacks)
			})
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(out, "%s has %d sacks\n", options.Data, to)
			return err
		},
	}
	cmd.Flags().StringVar(&options.Data, "data", stateFolder("gnocco"), "data folder")
	cmd.Flags().IntVar(&to, "to", 0, "number of sacks wanted")
	if err := cmd.MarkFlagRequired("to"); err != nil {
		panic(err) // the flag is defined above
	}
	return cmd
}
