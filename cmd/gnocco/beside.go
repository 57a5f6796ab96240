package main

import (
	"strings"

	"github.com/spf13/cobra"
)

// Programs beside this one, each with a module of its own.
const (
	asker    = "gnocco-client"
	importer = "gnocco-import"
)

// elsewhere are the commands of other programs: their group here, the program, and what the help lists.
var elsewhere = []struct{ group, program, name, short string }{
	{"ask", importer, "correlate", "Correlate all pairs of stored metrics"},
	{"ask", asker, "delete", "Delete metrics, or their measures in a range of time"},
	{"ask", asker, "explain", "Say which metrics moved in a time, and when relative to others"},
	{"ask", asker, "list", "List the metrics, resources, archive policies and queries of a server, and more"},
	{"ask", asker, "query", "Evaluate an expression in PromQL"},
	{"ask", asker, "quotas", "Show what projects use of their quotas, and change the quota of one"},
	{"ask", asker, "rebuild", "Give a server's archives other granularities or aggregation methods"},
	{"ask", asker, "rules", "List, apply and delete recording rules"},
	{"ask", asker, "show", "Show metrics: a line each, with a chart"},
	{"ask", asker, "size", "Estimate the disk, memory and CPU that metrics will take"},
	{"ask", asker, "status", "Show the processes of a cluster, and what waits or is damaged"},
	{"ask", asker, "top", "Show the queries that run, and those that cost most"},
	{"move", importer, "export", "Write aggregates of metrics as CSV, JSON lines or Prometheus' text, or whole archives"},
	{"move", importer, "import", "Send measures from files, or archives, to a server"},
}

// programKey is the annotation of a command that says which program has it.
const programKey = "program"

// addElsewhere adds the commands of other programs to root's help and completion. programOf finds them before they run.
func addElsewhere(root *cobra.Command) {
	for _, e := range elsewhere {
		root.AddCommand(&cobra.Command{Use: e.name, Short: e.short, GroupID: e.group, DisableFlagParsing: true,
			Annotations: map[string]string{programKey: e.program}, Run: func(*cobra.Command, []string) {}})
	}
}

// programOf returns the program that has the command of args, and so its help, completion and settings; "": this one.
func programOf(root *cobra.Command, args []string) string {
	if len(args) > 0 && strings.HasPrefix(args[0], cobra.ShellCompRequestCmd) {
		args = args[1:]
	}
	root.InitDefaultHelpCmd()
	cmd, rest, err := root.Find(args)
	if err == nil && (cmd.Name() == "help" || cmd.HasParent() && cmd.Parent().Name() == "config") {
		cmd, _, err = root.Find(rest)
	}
	if err != nil {
		return ""
	}
	return cmd.Annotations[programKey]
}
