package main

import "github.com/spf13/cobra"

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "gnocco",
		Short: "A time-series database that speaks Gnocchi's REST API",
		Long: `Gnocco stores measures of metrics and keeps their aggregates ready to be read: which
ones, and for how long, is said by each metric's archive policy. It speaks the REST API
of OpenStack's Gnocchi, and needs nothing beside it but a folder.

Every flag can also be given as an environment variable (--max-limit as GNOCCO_MAX_LIMIT)
or in a configuration file, TOML or YAML by its name (max-limit = 500). The command line
goes before the environment, and the environment before the file.`,
		Example: `  gnocco serve                          serve the API on 127.0.0.1:8041
  gnocco demo                           the same, with this machine's own figures coming in
  gnocco import csv cpu.csv             send the measures of a file to a server`,
		SilenceUsage:  true,
		SilenceErrors: true,
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			return applySettings(cmd)
		},
	}
	root.PersistentFlags().String(configFlag, "", "configuration file, ending in .toml, .yaml or .yml")
	root.AddCommand(newServe(), newAPI(), newMetricd(), newDemo(), newImport(), newCorrelate(), newReaggregate(), newInspect(), newFsck(), newSacks(), newDoctor(), newBench(), newVersion())
	return root
}
