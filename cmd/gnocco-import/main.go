package main

import (
	_ "embed"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/gnocco-db/gnocco"
	"github.com/gnocco-db/gnocco/cmd/gnocco-import/internal/csvimport"
	"github.com/gnocco-db/gnocco/cmd/shared/exports"
	"github.com/gnocco-db/gnocco/cmd/shared/imports"
	"github.com/gnocco-db/gnocco/cmd/shared/process"
	"github.com/gnocco-db/gnocco/cmd/shared/remote"
	"github.com/gnocco-db/gnocco/cmd/shared/series"
	"github.com/gnocco-db/gnocco/internal/version"
)

//go:generate go run github.com/gnocco-db/gnocco/tools/licenses -of . -o licenses.txt

// licenses are those of all modules that this program is linked from.
//
//go:embed licenses.txt
var licenses string

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
		Use:               "gnocco-import",
		Short:             "Carry measures between files and a Gnocco server; gnocco import and export run this program",
		Version:           version.Number,
		SilenceUsage:      true,
		SilenceErrors:     true,
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error { return applyEnvironment(cmd.Flags()) },
	}
	csv, _ := imports.NewCSV(runOf((*csvimport.Importer).File))
	lines, _ := imports.NewLines(runOf((*csvimport.Importer).Lines))
	blocks, _ := imports.NewBlocks(func(cmd *cobra.Command, o *imports.Options, folders []string) error {
		return run(cmd, o, folders, func(i *csvimport.Importer, folder string, _ io.Reader) error {
			return i.Blocks(cmd.Context(), folder)
		})
	})
	archive, _ := imports.NewArchive(importArchive)
	write, _ := exports.New(export)
	root.AddCommand(csv, lines, blocks, archive, write, newRestore(), newCorrelate(), &cobra.Command{
		Use:   "licenses",
		Short: "Print the licences of this program and of its parts",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := io.WriteString(cmd.OutOrStdout(), gnocco.License+"\n"+licenses)
			return err
		},
	})
	return root
}

func runOf(read func(*csvimport.Importer, string, io.Reader) error) imports.Run {
	return func(cmd *cobra.Command, o *imports.Options, files []string) error { return run(cmd, o, files, read) }
}

// applyEnvironment sets the flags that the command line leaves out, from GNOCCO_URL and its like.
func applyEnvironment(flags *pflag.FlagSet) error {
	var faults []error
	flags.VisitAll(func(flag *pflag.Flag) {
		text := os.Getenv("GNOCCO_" + strings.ToUpper(strings.ReplaceAll(flag.Name, "-", "_")))
		if !flag.Changed && text != "" && flag.Name != "help" {
			faults = append(faults, flags.Set(flag.Name, text))
		}
	})
	return errors.Join(faults...)
}
