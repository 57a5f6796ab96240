package main

import (
	"github.com/spf13/cobra"

	"github.com/gnocco-db/gnocco/internal/version"
)

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "gnocco",
		Short: "A time-series database that speaks Gnocchi's REST API",
		Long: `Gnocco stores measures of metrics and keeps their aggregates ready to be read. The archive
policy of a metric says which aggregates are kept, and for how long. Gnocco speaks the REST API
of OpenStack's Gnocchi and needs nothing but a folder.

Every flag can also be set by an environment variable (GNOCCO_MAX_LIMIT for --max-limit) or in
a configuration file, TOML or YAML by its ending (max-limit = 500). Flags override the
environment, and the environment overrides the file. A file that ends in .conf is Gnocchi's own.`,
		Example: `  gnocco serve                          serve the API on 127.0.0.1:8041
  gnocco demo                           serve, and collect this machine's own figures
  gnocco import csv cpu.csv             send the measures of a file to a server`,
		Version:       version.Number,
		SilenceUsage:  true,
		SilenceErrors: true,
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			if err := warnOfVariables(cmd); err != nil {
				return err
			}
			return applySettings(cmd)
		},
	}
	root.PersistentFlags().String(configFlag, "",
		"configuration file, ending in .toml, .yaml, .yml, or .conf (Gnocchi's)")
	group := func(id, title string, commands ...*cobra.Command) {
		root.AddGroup(&cobra.Group{ID: id, Title: title})
		for _, cmd := range commands {
			cmd.GroupID = id
			root.AddCommand(cmd)
		}
	}
	group("serve", "Run servers:", newServe(), newAPI(), newMetricd(), newDemo(), newInit(), newConfig())
	group("ask", "Ask a server:", newList(), newShow(), newWatch(), newQuery(), newCorrelate(), newDelete(), newRebuild(),
		newStatus(), newTop(), newQuotas(), newSize())
	group("move", "Move data in and out:", newImport(), newExport(), newBackup(), newRestore())
	group("look", "Look into data and repair it:", newInspect(), newFsck(), newSacks(), newDoctor())
	root.AddCommand(newLicenses(), newVersion())
	addHelpTopics(root)
	root.SetVersionTemplate("gnocco {{.Version}}\n")
	root.SetFlagErrorFunc(flagError)
	root.InitDefaultCompletionCmd()
	refuseUnknown(root)
	return root
}
