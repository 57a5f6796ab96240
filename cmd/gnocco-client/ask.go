package main

import (
	"github.com/spf13/cobra"

	"github.com/gnocco-db/gnocco/cmd/shared/remote"
	"github.com/gnocco-db/gnocco/cmd/shared/table"
	"github.com/gnocco-db/gnocco/internal/client"
)

// askServer makes a command run with a client of the server that its flags name.
func askServer(cmd *cobra.Command, run func(cmd *cobra.Command, c *client.Client, args []string) error) *remote.Flags {
	server := new(remote.Flags)
	server.Define(cmd.Flags(), remote.DefaultURL, "address of the server, with its prefix if it has one")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		c, err := server.Client()
		if err != nil {
			return err
		}
		return run(cmd, c, args)
	}
	return server
}

// askForTable is askServer for a command whose answer is a table.
func askForTable(cmd *cobra.Command,
	run func(cmd *cobra.Command, c *client.Client, args []string) (*table.Table, error)) *remote.Flags {
	var output string
	table.DefineOutput(cmd.Flags(), &output)
	return askServer(cmd, func(cmd *cobra.Command, c *client.Client, args []string) error {
		t, err := run(cmd, c, args)
		if err != nil {
			return err
		}
		return t.Write(cmd.OutOrStdout(), output)
	})
}
