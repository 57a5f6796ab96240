package commandline

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/gnocco-db/gnocco/cmd/shared/remote"
	"github.com/gnocco-db/gnocco/internal/version"
)

// Name returns the name by which this process was called, that of gnocco also where another program took its place.
func Name() string { return filepath.Base(os.Args[0]) }

// Prepare gives a program, once it has all its commands, settings, the command config and errors that explain.
func Prepare(root *cobra.Command) {
	root.Version, root.SilenceUsage, root.SilenceErrors = version.Number, true, true
	DefineSettings(root)
	root.PersistentPreRunE = func(cmd *cobra.Command, args []string) error {
		return cmp.Or(warnOfVariables(cmd), ApplySettings(cmd, args))
	}
	root.SetFlagErrorFunc(flagError)
	root.InitDefaultCompletionCmd()
	root.InitDefaultHelpCmd()
	refuseUnknown(root)
	if help, _, err := root.Find([]string{"help"}); err == nil { // Cobra's prints the root's help with status 0
		help.Args = func(_ *cobra.Command, args []string) error {
			_, _, err := root.Find(args)
			return err
		}
	}
}

// refuseUnknown makes every command below cmd that only holds others refuse one that it does not have: Cobra would
// print help with status 0. Alone, such a command prints its help. The others say which arguments they take.
func refuseUnknown(cmd *cobra.Command) {
	for _, child := range cmd.Commands() {
		if child.HasSubCommands() && !child.Runnable() {
			child.Args, child.DisableFlagsInUseLine = cobra.NoArgs, true
			child.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
		} else if check := child.Args; check != nil {
			child.Args = func(cmd *cobra.Command, args []string) error {
				if check(cmd, args) == nil {
					return nil
				}
				return fmt.Errorf("usage: %s (%s --help explains it)", cmd.UseLine(), cmd.CommandPath())
			}
		}
		refuseUnknown(child)
	}
}

// flagError prefers the name of an unknown command to its flags, which are unknown for that reason.
func flagError(cmd *cobra.Command, err error) error {
	if cmd.HasSubCommands() {
		if unknown := cmd.ValidateArgs(cmd.Flags().Args()); unknown != nil {
			return unknown
		}
	}
	if name, ok := strings.CutPrefix(err.Error(), "unknown flag: --"); ok {
		var known []string
		cmd.Flags().VisitAll(func(flag *pflag.Flag) { known = append(known, "--"+flag.Name) })
		all := fmt.Sprintf(" (%s --help lists them)", cmd.CommandPath())
		return fmt.Errorf("%w%s", err, cmp.Or(remote.DidYouMean("--"+name, known), all))
	}
	return err
}
