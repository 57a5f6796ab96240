package main

import (
	"io"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// A command that only holds others fails on an unknown one, with any flags; alone it prints its help.
func TestUnknownCommandsFail(t *testing.T) {
	execute := func(path []string, more ...string) error {
		root := newRoot()
		root.SetOut(io.Discard)
		root.SetErr(io.Discard)
		root.SetArgs(append(path[1:len(path):len(path)], more...))
		return root.Execute()
	}
	groups := 0
	var visit func(*cobra.Command)
	visit = func(cmd *cobra.Command) {
		for _, child := range cmd.Commands() {
			visit(child)
		}
		if !cmd.HasSubCommands() {
			return
		}
		groups++
		path := strings.Fields(cmd.CommandPath())
		want := `unknown command "parquet" for "` + cmd.CommandPath() + `"`
		for _, more := range [][]string{{"parquet"}, {"parquet", "x"}, {"parquet", "x", "--policy", "low"}} {
			if err := execute(path, more...); err == nil || !strings.HasPrefix(err.Error(), want) {
				t.Errorf("%s %q: %v", cmd.CommandPath(), more, err)
			}
		}
		if err := execute(path); err != nil {
			t.Errorf("%s: %v", cmd.CommandPath(), err)
		}
	}
	visit(newRoot())
	if groups < 4 {
		t.Errorf("%d commands hold others", groups)
	}
}
