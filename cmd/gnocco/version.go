package main

import (
	"errors"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"gnocco/gpu"
)

func newVersion() *cobra.Command {
	var devices gpuFlags
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the version, the source revision, the Go version and the CUDA devices",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			b := readBuild()
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "gnocco %s\nrevision %s\n%s %s/%s\n", b.version, b.revision, runtime.Version(), runtime.GOOS, runtime.GOARCH)
			return errors.Join(err, printDevices(cmd.OutOrStdout(), devices.driver))
		},
	}
	devices.define(cmd.Flags())
	return cmd
}

// printDevices writes a line for each CUDA device, or one that says why there is none.
func printDevices(out io.Writer, driver string) error {
	all, err := gpu.Find(driver)
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

// build is what the Go command wrote into the program.
type build struct {
	version  string // of the module; "devel" if it was not built from a tagged revision
	revision string // of the sources, with "+changes" if they were changed since; "unknown" outside a checkout
}

func readBuild() build {
	b := build{version: "devel", revision: "unknown"}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		b.version = v
	}
	changed := false
	for _, setting := range info.Settings {
		switch setting.Key {
		case "vcs.revision":
			b.revision = setting.Value
		case "vcs.modified":
			changed = setting.Value == "true"
		}
	}
	if changed {
		b.revision += "+changes"
	}
	return b
}
