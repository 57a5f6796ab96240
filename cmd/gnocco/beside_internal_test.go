package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/gnocco-db/gnocco/tests/fatal"
)

// A program that parses the given arguments has each setting as this program has it, with commas and quotes as well.
func TestGivenFlagsAreReadAlike(t *testing.T) {
	const hard = `a,"b c" = d`
	f := func(new func() *cobra.Command) {
		t.Helper()
		here, beside := new().Flags(), new().Flags()
		here.VisitAll(func(flag *pflag.Flag) {
			if flag.Name != configFlag && flag.Name != "help" {
				value := hard
				switch flag.Value.Type() {
				case "bool":
					value = "true"
				case "int":
					value = "7"
				case "stringSlice":
					value = `"a,""b",c`
				}
				fatal.If(t, here.Set(flag.Name, value))
				if strings.HasSuffix(flag.Value.Type(), "Array") {
					fatal.If(t, here.Set(flag.Name, "second"))
				}
			}
		})
		args, secrets := givenFlags(here)
		for i, secret := range secrets {
			name, value, _ := strings.Cut(secret, "=")
			name = strings.ToLower(strings.TrimPrefix(name, envPrefix))
			secrets[i] = name
			fatal.If(t, beside.Set(name, value))
		}
		if !slices.Equal(secrets, []string{"password", "token"}) || strings.Contains(strings.Join(args, " "), "--token") {
			t.Errorf("secrets are %q, of %q", secrets, args)
		}
		fatal.If(t, beside.Parse(args))
		here.VisitAll(func(flag *pflag.Flag) {
			got := beside.Lookup(flag.Name)
			if got.Value.String() != flag.Value.String() || got.Changed != flag.Changed {
				t.Errorf("--%s is %s here and %s beside", flag.Name, flag.Value, got.Value)
			}
		})
	}
	f(newExport)
	f(newRestore)
	for i := range newImport().Commands() {
		f(func() *cobra.Command { return newImport().Commands()[i] })
	}
}
