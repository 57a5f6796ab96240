package licenses

import (
	"io"

	"github.com/spf13/cobra"

	"github.com/gnocco-db/gnocco"
)

// NewCommand returns the command licenses of a program. parts are the licences of the modules that it is linked from.
func NewCommand(parts string) *cobra.Command {
	return &cobra.Command{
		Use:   "licenses",
		Short: "Print the licences of this program and of its parts",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := io.WriteString(cmd.OutOrStdout(), gnocco.License+"\n"+parts)
			return err
		},
	}
}
