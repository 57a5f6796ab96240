package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/spf13/viper"
)

const (
	configFlag = "config"
	envPrefix  = "GNOCCO"
)

// applySettings sets the flags of cmd that the command line leaves out, from the environment or else from the
// configuration file. So commands look at their flags only, and every setting is checked by its flag.
func applySettings(cmd *cobra.Command) error {
	v := viper.New()
	v.SetEnvPrefix(envPrefix)
	v.SetEnvKeyReplacer(strings.NewReplacer("-", "_"))
	v.AutomaticEnv()
	path, _ := cmd.Flags().GetString(configFlag)
	if path == "" {
		path = v.GetString(configFlag)
	}
	if path != "" {
		v.SetConfigFile(path)
		if err := v.ReadInConfig(); err != nil {
			return fmt.Errorf("configuration file %s: %w", path, err)
		}
		if unknown := unknownKeys(cmd.Root(), v); len(unknown) > 0 {
			return fmt.Errorf("configuration file %s: unknown setting %s", path, strings.Join(unknown, ", "))
		}
	}
	var faults []error
	cmd.Flags().VisitAll(func(flag *pflag.Flag) {
		if flag.Changed || flag.Name == "help" || !v.IsSet(flag.Name) {
			return
		}
		if err := setFlag(cmd.Flags(), flag, v.Get(flag.Name)); err != nil {
			faults = append(faults, err)
		}
	})
	return errors.Join(faults...)
}

func setFlag(flags *pflag.FlagSet, flag *pflag.Flag, value any) error {
	list, isList := value.([]any)
	slice, isSlice := flag.Value.(pflag.SliceValue)
	if !isList || !isSlice {
		return flags.Set(flag.Name, fmt.Sprint(value))
	}
	texts := make([]string, len(list))
	for i, item := range list {
		texts[i] = fmt.Sprint(item)
	}
	flag.Changed = true
	return slice.Replace(texts)
}

// unknownKeys lists the keys of the file that are no flag of any command: one file may serve several.
func unknownKeys(root *cobra.Command, v *viper.Viper) []string {
	known := make(map[string]bool)
	var visit func(*cobra.Command)
	visit = func(cmd *cobra.Command) {
		cmd.Flags().VisitAll(func(flag *pflag.Flag) { known[flag.Name] = true })
		cmd.PersistentFlags().VisitAll(func(flag *pflag.Flag) { known[flag.Name] = true })
		for _, child := range cmd.Commands() {
			visit(child)
		}
	}
	visit(root)
	unknown := slices.DeleteFunc(v.AllKeys(), func(key string) bool { return known[key] })
	slices.Sort(unknown)
	return unknown
}
