package main

import (
	_ "embed"
	"io"

	"github.com/spf13/cobra"

	"github.com/gnocco-db/gnocco"
)

//go:generate go run github.com/gnocco-db/gnocco/tools/licenses -o licenses.txt

// licenses are those of all modules that this program is linked from.
//
//go:embed licenses.txt
var licenses string

func newLicenses() *cobra.Command {
	return &cobra.Command{
		Use:   "licenses",
		Short: "Print the licences of this program and of its parts",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := io.WriteString(cmd.OutOrStdout(), gnocco.License+"\n"+licenses)
			return err
		},
	}
}
