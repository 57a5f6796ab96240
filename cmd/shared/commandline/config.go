package commandline

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/gnocco-db/gnocco/cmd/shared/remote"
	"github.com/gnocco-db/gnocco/cmd/shared/table"
)

// NewConfig returns the command config, for the settings of commands that the program has.
func NewConfig() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "config",
		Short: "Show or check the settings of a command, or write them as a file",
	}
	var output string
	show := &cobra.Command{
		Use:   "show [COMMAND]",
		Short: "Show each setting of a command, its value and its source",
		Long: `Show each setting of a command (default: serve), its value, and its source: the environment, the
configuration file or the default. Passwords and tokens are not shown.`,
		Example: `  gnocco config show --config /etc/gnocco/gnocco.toml
  gnocco config show metricd -o csv`,
		RunE: func(cmd *cobra.Command, args []string) error {
			t, err := settingsOf(cmd, args)
			if err != nil {
				return err
			}
			return t.Write(cmd.OutOrStdout(), output)
		},
	}
	table.DefineOutput(show.Flags(), &output)
	check := &cobra.Command{
		Use:   "check [COMMAND]",
		Short: "Check the settings of a command without running it",
		Long: `Check whether a command (default: serve) can read its settings from the environment and the
configuration file.`,
		Example: "  gnocco config check --config /etc/gnocco/gnocco.toml",
		RunE: func(cmd *cobra.Command, args []string) error {
			_, err := settingsOf(cmd, args)
			if unknown := unknownVariables(); len(unknown) > 0 { // each has its warning
				err = errors.Join(err, fmt.Errorf("variables that set nothing: %s", strings.Join(unknown, ", ")))
			}
			return err
		},
	}
	example := &cobra.Command{
		Use:   "example [COMMAND]",
		Short: "Write a configuration file with all settings of a command",
		Long: `Write a configuration file (TOML) with each setting of a command (default: serve), its default and what
it does. All settings are comments: remove the # before those to change.`,
		Example: "  gnocco config example > gnocco.toml",
		RunE: func(cmd *cobra.Command, args []string) error {
			target, err := commandOf(cmd, args)
			if err != nil {
				return err
			}
			_, err = io.WriteString(cmd.OutOrStdout(), exampleOf(target))
			return err
		},
	}
	cmd.AddCommand(show, check, example)
	for _, sub := range cmd.Commands() {
		sub.ValidArgsFunction = proposeCommands
	}
	return cmd
}

// commandOf returns the command that args name, serve for none.
func commandOf(cmd *cobra.Command, args []string) (*cobra.Command, error) {
	if len(args) == 0 {
		args = []string{"serve"}
	}
	target, rest, err := cmd.Root().Find(args)
	if err != nil || len(rest) > 0 || target == cmd.Root() {
		return nil, fmt.Errorf("no command is called %s (gnocco --help lists all)", strings.Join(args, " "))
	}
	return target, nil
}

// proposeCommands proposes the commands below the one that args name.
func proposeCommands(cmd *cobra.Command, args []string, _ string) (names []string, _ cobra.ShellCompDirective) {
	parent, _, err := cmd.Root().Find(args)
	if err == nil {
		for _, child := range parent.Commands() {
			if child.Runnable() || child.HasSubCommands() {
				names = append(names, child.Name())
			}
		}
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

// exampleOf returns a command's settings as a file of comments.
func exampleOf(cmd *cobra.Command) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# Settings of %s with their defaults.\n", cmd.CommandPath())
	eachSetting(cmd, func(flag *pflag.Flag) {
		_, usage := pflag.UnquoteUsage(flag)
		value := flag.DefValue
		if list, ok := flag.Value.(pflag.SliceValue); ok {
			var items []string
			for _, item := range list.GetSlice() {
				items = append(items, strconv.Quote(item))
			}
			value = "[" + strings.Join(items, ", ") + "]"
		} else if !json.Valid([]byte(value)) { // neither a number nor true or false
			value = strconv.Quote(value)
		}
		fmt.Fprintf(&b, "\n# %s\n#%s = %s\n", strings.Join(strings.Fields(usage), " "), flag.Name, value)
	})
	return b.String()
}

// eachSetting calls use with the flags of a command that a file can set.
func eachSetting(cmd *cobra.Command, use func(*pflag.Flag)) {
	cmd.Flags().VisitAll(func(flag *pflag.Flag) {
		if flag.Name != "help" && flag.Name != configFlag {
			use(flag)
		}
	})
}

// settingsOf returns the settings that the environment and the file give to the command that args name.
func settingsOf(cmd *cobra.Command, args []string) (*table.Table, error) {
	target, err := commandOf(cmd, args)
	if err != nil {
		return nil, err
	}
	if err := target.ParseFlags(nil); err != nil {
		return nil, err
	}
	if err := ApplySettings(target, nil); err != nil {
		return nil, err
	}
	t := &table.Table{Columns: []string{"setting", "value", "source"}}
	eachSetting(target, func(flag *pflag.Flag) {
		value, source := flag.Value.String(), "default"
		if os.Getenv(variable(flag.Name)) != "" {
			source = variable(flag.Name)
		} else if flag.Changed {
			source = "file"
		}
		if isSecret(flag.Name) && value != "" {
			value = "(not shown)"
		}
		t.Add(flag.Name, value, source)
	})
	return t, nil
}

// isSecret reports whether a setting holds a secret, not the name of a file with one.
func isSecret(setting string) bool {
	return slices.Contains([]string{"password", "token", "keystone-secret"}, setting)
}

// variablesOfOthers are the variables GNOCCO_* that are no flags.
var variablesOfOthers = []string{"GNOCCO_CUDA_DRIVER"}

// warnOfVariables names the variables GNOCCO_* that set nothing, on standard error.
func warnOfVariables(cmd *cobra.Command) error {
	for _, name := range unknownVariables() {
		var known []string
		for _, setting := range strings.Fields(settingNames) {
			known = append(known, variable(setting))
		}
		if _, err := fmt.Fprintf(cmd.ErrOrStderr(), "warning: %s is no setting of any command%s\n", name,
			remote.DidYouMean(name, known)); err != nil {
			return err
		}
	}
	return nil
}

// unknownVariables returns the variables GNOCCO_* of the environment that set no flag.
func unknownVariables() []string {
	set := make(map[string]any)
	var lower []string
	for _, entry := range os.Environ() {
		name, _, _ := strings.Cut(entry, "=")
		if upper := strings.ToUpper(name); strings.HasPrefix(upper, envPrefix) && name != upper {
			lower = append(lower, name)
		} else if setting, ok := strings.CutPrefix(name, envPrefix); ok && !slices.Contains(variablesOfOthers, name) {
			set[strings.ToLower(strings.ReplaceAll(setting, "_", "-"))] = nil
		}
	}
	names := unknown(maps.Keys(set))
	for i := range names {
		names[i] = variable(names[i])
	}
	return append(names, lower...)
}
