package main

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/sys/unix"

	"github.com/gnocco-db/gnocco/cmd/shared/exports"
	"github.com/gnocco-db/gnocco/cmd/shared/imports"
	"github.com/gnocco-db/gnocco/cmd/shared/process"
)

// importer is the program that carries measures in and out, with a module of its own.
const importer = "gnocco-import"

func newImport() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "import",
		Short: "Send measures from files, or archives, to a server",
	}
	for _, command := range []func(imports.Run) (*cobra.Command, *imports.Options){imports.NewCSV, imports.NewLines,
		imports.NewBlocks, imports.NewArchive} {
		child, o := command(func(cmd *cobra.Command, _ *imports.Options, files []string) error {
			return becomeImporter(cmd, files)
		})
		completeFlags(child, &o.Remote)
		cmd.AddCommand(child)
	}
	return cmd
}

func newExport() *cobra.Command {
	cmd, o := exports.New(func(cmd *cobra.Command, _ *exports.Options, args []string) error {
		return becomeImporter(cmd, args)
	})
	cmd.ValidArgsFunction = firstOf(exports.Forms, ask(&o.Remote, proposeSelectors))
	completeFlags(cmd, &o.Remote)
	return cmd
}

func newCorrelate() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "correlate --url URL",
		Short: "Correlate all pairs of stored metrics",
		Long: `The server correlates the aggregates of stored metrics: those that --metric names, or those of the
resources that --search finds whose names match --name. The strongest pairs come first, one line a
pair: (ID,ID) r. "gnocco-import correlate --help" lists all flags.`,
		Example:            `  gnocco correlate --url http://127.0.0.1:8041 --name 'cpu*' --start -1d --min-abs 0.9`,
		FParseErrWhitelist: cobra.FParseErrWhitelist{UnknownFlags: true},
		RunE: func(cmd *cobra.Command, _ []string) error {
			program, err := process.Find(importer)
			if err != nil {
				return err
			}
			given, secrets := givenFlags(cmd.Flags())
			typed := os.Args[slices.Index(os.Args, cmd.Name())+1:]
			return become(program, append(append([]string{cmd.Name()}, given...), typed...), secrets)
		},
	}
	new(remoteFlags).Define(cmd.Flags(), "", "correlate stored metrics of the server at this address")
	return cmd
}

// becomeImporter has the importer's command of the same name take the place of this process, with the settings that the
// command line, the environment and the configuration file gave.
func becomeImporter(cmd *cobra.Command, args []string) error {
	program, err := process.Find(importer)
	if err != nil {
		return err
	}
	given, secrets := givenFlags(cmd.Flags())
	return become(program, append(append(append([]string{cmd.Name()}, given...), "--"), args...), secrets)
}

// become makes this process another program. secrets are variables that it gets besides those of the environment.
func become(program string, args, secrets []string) error {
	args = append([]string{filepath.Base(program)}, args...)
	return fmt.Errorf("%s: %w", program, unix.Exec(program, args, append(secrets, os.Environ()...))) // the first value counts
}

// givenFlags returns the flags that the command line, the environment or a file has set, but for the file's own, and as
// variables those with a secret.
func givenFlags(flags *pflag.FlagSet) (args, secrets []string) {
	flags.VisitAll(func(flag *pflag.Flag) {
		switch list, _ := flag.Value.(pflag.SliceValue); {
		case !flag.Changed || flag.Name == configFlag:
		case isSecret(flag.Name):
			secrets = append(secrets, variable(flag.Name)+"="+flag.Value.String())
		case flag.Value.Type() == "stringArray":
			for _, value := range list.GetSlice() {
				args = append(args, "--"+flag.Name+"="+value)
			}
		case list != nil:
			args = append(args, "--"+flag.Name+"="+commaSeparated(list.GetSlice()))
		default:
			args = append(args, "--"+flag.Name+"="+flag.Value.String())
		}
	})
	return args, secrets
}

// commaSeparated returns a list as a flag has it.
func commaSeparated(list []string) string {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	_ = w.Write(list) // a buffer takes all
	w.Flush()
	return strings.TrimSuffix(b.String(), "\n")
}
