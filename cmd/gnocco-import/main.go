package main

import (
	_ "embed"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/gnocco-db/gnocco/cmd/gnocco-client/complete"
	"github.com/gnocco-db/gnocco/cmd/gnocco-client/series"
	"github.com/gnocco-db/gnocco/cmd/gnocco-import/exports"
	"github.com/gnocco-db/gnocco/cmd/gnocco-import/imports"
	"github.com/gnocco-db/gnocco/cmd/gnocco-import/internal/csvimport"
	"github.com/gnocco-db/gnocco/cmd/shared/commandline"
	"github.com/gnocco-db/gnocco/cmd/shared/licenses"
	"github.com/gnocco-db/gnocco/cmd/shared/process"
	"github.com/gnocco-db/gnocco/cmd/shared/remote"
)

//go:generate go run github.com/gnocco-db/gnocco/tools/licenses -of . -o licenses.txt

// licensesOfParts are those of all modules that this program is linked from.
//
//go:embed licenses.txt
var licensesOfParts string

// exitIncomplete is the status of an import that ended, after which the archives do not have all that the files hold.
const exitIncomplete = 2

func main() {
	err := newProgram().ExecuteContext(process.UntilSignal())
	if err == nil {
		return
	}
	fmt.Fprintln(os.Stderr, "gnocco:", series.Message(err))
	if advice := remote.Advice(err); advice != "" {
		fmt.Fprintln(os.Stderr, "gnocco:", advice)
	}
	if errors.Is(err, errIncomplete) || errors.As(err, new(csvimport.Refusal)) || errors.As(err, new(partlyRestored)) {
		os.Exit(exitIncomplete)
	}
	os.Exit(1)
}

func newProgram() *cobra.Command {
	root := &cobra.Command{
		Use:   commandline.Name(),
		Short: "Carry measures between files and a Gnocco server; gnocco import and export run this program",
	}
	imported := &cobra.Command{Use: "import", Short: "Send measures from files, or archives, to a server"}
	add := func(cmd *cobra.Command, o *imports.Options) {
		complete.Flags(cmd, &o.Remote)
		imported.AddCommand(cmd)
	}
	add(imports.NewCSV(runOf((*csvimport.Importer).File)))
	add(imports.NewLines(runOf((*csvimport.Importer).Lines)))
	add(imports.NewInflux(runOf((*csvimport.Importer).Influx)))
	add(imports.NewGraphite(runOf((*csvimport.Importer).Graphite)))
	add(imports.NewBlocks(func(cmd *cobra.Command, o *imports.Options, folders []string) error {
		return run(cmd, o, folders, func(i *csvimport.Importer, folder string, _ io.Reader) error {
			return i.Blocks(cmd.Context(), folder)
		})
	}))
	add(imports.NewArchive(importArchive))
	write, o := exports.New(export)
	write.ValidArgsFunction = complete.FirstOf(exports.Forms, complete.Ask(&o.Remote, complete.Selectors))
	complete.Flags(write, &o.Remote)
	config := commandline.NewConfig()
	config.Hidden = true // gnocco config becomes it for commands of this program
	root.AddCommand(imported, write, newRestore(), newCorrelate(), config, licenses.NewCommand(licensesOfParts))
	commandline.Prepare(root)
	return root
}

func runOf(read func(*csvimport.Importer, string, io.Reader) error) imports.Run {
	return func(cmd *cobra.Command, o *imports.Options, files []string) error { return run(cmd, o, files, read) }
}
