package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

func newVersion() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version, the source revision and the Go version",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			b := readBuild()
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "gnocco %s\nrevision %s\n%s %s/%s\n", b.version, b.revision, runtime.Version(), runtime.GOOS, runtime.GOARCH)
			return err
		},
	}
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
