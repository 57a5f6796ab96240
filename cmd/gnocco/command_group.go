package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

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
		advice := didYouMean("--"+name, known)
		if advice == "" {
			advice = fmt.Sprintf(" (%s --help lists them)", cmd.CommandPath())
		}
		return fmt.Errorf("%w%s", err, advice)
	}
	return err
}
