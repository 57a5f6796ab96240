package main

import (
	_ "embed"
	"errors"
	"fmt"
	"io"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/gnocco-db/gnocco/cmd/shared/devices"
	"github.com/gnocco-db/gnocco/gpu/device"
	"github.com/gnocco-db/gnocco/internal/version"
)

func newVersion() *cobra.Command {
	var flags devices.Flags
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the version, the source revision, the Go version and the CUDA devices",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "gnocco %s\nrevision %s\n%s %s/%s\n",
				version.Number, version.Revision(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
			return errors.Join(err, printDevices(cmd.OutOrStdout(), flags.Driver))
		},
	}
	flags.Define(cmd.Flags())
	return cmd
}

// printDevices writes a line for each CUDA device, or one that says why there is none.
func printDevices(out io.Writer, driver string) error {
	all, err := device.Find(driver)
	if err != nil {
		_, err = fmt.Fprintf(out, "device none (%v)\n", err)
		return err
	}
	for _, properties := range all {
		if _, err := fmt.Fprintf(out, "device %d %s\n", properties.Ordinal, properties); err != nil {
			return err
		}
	}
	return nil
}

//go:generate go run github.com/gnocco-db/gnocco/tools/licenses -o licenses.txt

// licensesOfParts are those of all modules that this program is linked from.
//
//go:embed licenses.txt
var licensesOfParts string
