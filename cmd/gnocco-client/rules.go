package main

import (
	"fmt"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/gnocco-db/gnocco/cmd/shared/remote"
	"github.com/gnocco-db/gnocco/cmd/shared/table"
	"github.com/gnocco-db/gnocco/internal/client"
)

func newRules() *cobra.Command {
	cmd := &cobra.Command{Use: "rules", Short: "List, apply and delete recording rules"}
	list := &cobra.Command{Use: "list", Short: "List recording rules, and their progress", Args: cobra.NoArgs,
		Long: `List the recording rules of the user's project, to admins those of all projects. Column to_do counts the times that
the server has still to evaluate: a new rule's history, and those whose inputs have changed. from_groups counts those whose
inputs were not all measures any more.`,
		Example: "  gnocco rules list"}
	askForTable(list, func(cmd *cobra.Command, c *client.Client, _ []string) (*table.Table, error) {
		var answer struct {
			Data struct{ Groups []ruleGroup }
		}
		err := c.Do(cmd.Context(), "GET", "/api/v1/rules", nil, &answer)
		t := &table.Table{Columns: []string{"project", "group", "rule", "interval", "series", "to_do", "of_history",
			"from_groups", "state"}}
		for _, g := range answer.Data.Groups {
			for _, r := range g.Rules {
				state := map[string]string{"ok": "recorded", "unknown": "waiting", "err": r.Fault}[r.Health]
				if r.Todo > 0 && r.Health == "ok" {
					state = map[bool]string{true: "paused", false: "evaluating"}[g.Paused]
				}
				t.Add(g.Project, g.Name, r.Name, (time.Duration(g.Interval) * time.Second).String(), r.Series, r.Todo,
					r.History, r.Coarse, state)
			}
		}
		return t, err
	})
	var asked *remote.Flags
	apply := &cobra.Command{Use: "apply FILE...", Short: "Apply rule files of Prometheus", Args: cobra.MinimumNArgs(1),
		Long: `Apply the recording rules of Prometheus' rule files. A group replaces the one of its name. Alerting rules are named,
and left to vmalert.`,
		Example: "  gnocco rules apply node-exporter.yml kubernetes.yml"}
	asked = askServer(apply, func(cmd *cobra.Command, c *client.Client, args []string) error {
		for _, file := range args {
			text, err := os.ReadFile(file)
			if err != nil {
				return err
			}
			var done struct{ Groups, Alerts []string }
			if err := c.Do(cmd.Context(), "POST", "/v1/rules", string(text), &done); err != nil {
				return fmt.Errorf("%s: %w", file, err)
			}
			fmt.Fprintf(cmd.OutOrStdout(), "%s: applied: %s\n", file, strings.Join(done.Groups, ", "))
			if len(done.Alerts) > 0 {
				fmt.Fprintf(cmd.ErrOrStderr(), "%s: alerting rules are left to vmalert: %s\n"+
					"  In a file of their own: vmalert -rule=ALERTS.yml -datasource.url=%[3]s -remoteRead.url=%[3]s "+
					"-remoteWrite.url=%[3]s -notifier.url=http://127.0.0.1:9093\n", file,
					strings.Join(done.Alerts, ", "), asked.URL)
			}
		}
		return nil
	})
	cmd.AddCommand(list, apply)
	for _, c := range []struct {
		name, short, long, method string
		body                      any
	}{
		{"pause", "Pause the work on earlier times", "Let groups record new times only. A new rule's history, and times whose " +
			"inputs have changed, wait until\ngnocco rules resume.", "PATCH", map[string]bool{"paused": true}},
		{"resume", "Resume the work on earlier times", "Let paused groups go on where they were.", "PATCH",
			map[string]bool{"paused": false}},
		{"delete", "Delete groups of recording rules",
			"Delete groups of recording rules, with the work on their history. Their series stay.", "DELETE", nil},
	} {
		var project string
		one := &cobra.Command{Use: c.name + " GROUP...", Short: c.short, Long: c.long,
			Example: "  gnocco rules " + c.name + " node-exporter.rules", Args: cobra.MinimumNArgs(1)}
		one.Flags().StringVar(&project, "project", "", "the groups' project, for admins (default: the user's)")
		askServer(one, func(cmd *cobra.Command, server *client.Client, args []string) error {
			for _, group := range args {
				path := "/v1/rules/" + url.PathEscape(group) + "?project=" + url.QueryEscape(project)
				if err := server.Do(cmd.Context(), c.method, path, c.body, nil); err != nil {
					return fmt.Errorf("%s: %w", group, err)
				}
			}
			return nil
		})
		cmd.AddCommand(one)
	}
	keep := &cobra.Command{Use: "keep NAME EXPR", Short: "Record what an expression answers", Args: cobra.ExactArgs(2),
		Long: `Apply a recording rule of a minute as a group of its own. Queries that have the expression as a part read its results
from then on. gnocco top proposes queries that come often.`,
		Example: "  gnocco rules keep job:up:sum 'sum by (job) (up)'"}
	askServer(keep, func(cmd *cobra.Command, c *client.Client, args []string) error {
		file := fmt.Sprintf("groups: [{name: %q, rules: [{record: %[1]q, expr: %[2]q}]}]", args[0], args[1])
		return c.Do(cmd.Context(), "POST", "/v1/rules", file, nil)
	})
	cmd.AddCommand(keep)
	return cmd
}

// ruleGroup is what a server says of a group of rules.
type ruleGroup struct {
	Name     string
	Project  string `json:"file"`
	Paused   bool
	Interval float64 // in seconds
	Rules    []struct {
		Name, Health string
		Fault        string `json:"lastError"`
		Series       int
		Todo         int64 `json:"cells_to_do"`
		History      int64 `json:"cells_of_history"`
		Coarse       int64 `json:"cells_from_groups"`
	}
}
