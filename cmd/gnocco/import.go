package main

import "github.com/spf13/cobra"

func newImport() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "import",
		Short: "Send measures from files to a server",
	}
	cmd.AddCommand(newImportCSV())
	return cmd
}
