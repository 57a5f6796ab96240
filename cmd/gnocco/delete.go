package main

import (
	"fmt"

	"github.com/spf13/cobra"
)

func newDelete() *cobra.Command {
	var remote remoteFlags
	var yes bool
	cmd := &cobra.Command{
		Use:   "delete SELECTOR...",
		Short: "Delete metrics with all their aggregates",
		Long: `Delete metrics with all their aggregates. Without --yes the command only lists them.

` + selectorHelp,
		Example: `  gnocco delete house/attic
  gnocco delete --yes '{job="old"}'`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := remote.client()
			if err != nil {
				return err
			}
			found, err := find(cmd.Context(), c, args)
			if err != nil {
				return err
			}
			out := cmd.OutOrStdout()
			for _, s := range found {
				if yes {
					if err := c.Do(cmd.Context(), "DELETE", "/v1/metric/"+s.id, nil, nil); err != nil {
						return fmt.Errorf("%s: %w", s.shown(), err)
					}
				}
				if _, err := fmt.Fprintln(out, s.shown()); err != nil {
					return err
				}
			}
			verb := "would be deleted: repeat with --yes"
			if yes {
				verb = "deleted"
			}
			_, err = fmt.Fprintf(cmd.ErrOrStderr(), "%d metrics %s\n", len(found), verb)
			return err
		},
	}
	remote.define(cmd.Flags(), defaultURL, "address of the server, with its prefix if it has one")
	cmd.Flags().BoolVar(&yes, "yes", false, "delete them")
	return cmd
}
