package main

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/sys/unix"

	"github.com/gnocco-db/gnocco/cmd/shared/imports"
	"github.com/gnocco-db/gnocco/cmd/shared/process"
)

func newImport() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "import",
		Short: "Send measures from files, or archives, to a server",
	}
	for _, command := range []func(imports.Run) (*cobra.Command, *imports.Options){imports.NewCSV, imports.NewLines,
		imports.NewBlocks} {
		child, o := command(runImporter)
		completeFlags(child, &o.Remote)
		cmd.AddCommand(child)
	}
	cmd.AddCommand(newImportArchive())
	return cmd
}

// importer is the program that reads files, with a module of its own.
const importer = "gnocco-import"

// runImporter has the importer take the place of this process, with the settings that the command line, the
// environment and the configuration file gave.
func runImporter(cmd *cobra.Command, _ *imports.Options, files []string) error {
	path, err := process.Find(importer)
	if err != nil {
		return err
	}
	args := []string{importer, cmd.Name()}
	var secrets []string // before the environment: the first value counts
	cmd.Flags().VisitAll(func(flag *pflag.Flag) {
		switch {
		case !flag.Changed || flag.Name == configFlag:
		case isSecret(flag.Name):
			secrets = append(secrets, variable(flag.Name)+"="+flag.Value.String())
		default:
			args = append(args, "--"+flag.Name+"="+argument(flag.Value))
		}
	})
	args = append(append(args, "--"), files...)
	return fmt.Errorf("%s: %w", path, unix.Exec(path, args, append(secrets, os.Environ()...)))
}

// argument returns a flag's value as the command line has it.
func argument(value pflag.Value) string {
	list, ok := value.(pflag.SliceValue)
	if !ok {
		return value.String()
	}
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	_ = w.Write(list.GetSlice()) // a buffer takes all
	w.Flush()
	return strings.TrimSuffix(b.String(), "\n")
}
