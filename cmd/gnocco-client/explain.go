package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gnocco-db/gnocco/cmd/gnocco-client/complete"
	"github.com/gnocco-db/gnocco/cmd/gnocco-client/series"
	"github.com/gnocco-db/gnocco/cmd/shared/table"
	"github.com/gnocco-db/gnocco/internal/client"
	"github.com/gnocco-db/gnocco/internal/counted"
)

// movement is what a server says of a metric in a time.
type movement struct {
	Labels                      map[string]string
	Score, Before, After, Usual float64
	MovedAt                     string `json:"moved_at"`
	Lag                         any
	Series, Moved               int
	Where                       []sharedLabel
	Alike                       []movement
}

// sharedLabel is a label of many metrics that moved, of so many that have it.
type sharedLabel struct {
	Label, Value string
	Moved, Of    int
}

func newExplain() *cobra.Command {
	var start, stop, match string
	cmd := &cobra.Command{
		Use:   "explain [SELECTOR...]",
		Short: "Say which metrics moved in a time, and when relative to others",
		Long: `Say which metrics moved most from --start to --stop, relative to the time before, which is as long,
and to the same hours of earlier days. Names whose series moved at the same time, and with the same
labels, are one row. The lag is how many seconds after --start they moved or, with a SELECTOR, after
its metrics: below 0 before, 0 with them.

` + series.SelectorHelp,
		Example: `  gnocco explain --start 2026-11-24T08:00 --stop 2026-11-24T08:30
  gnocco explain 'latency_seconds{job="shop"}' --start -30m --match '{region="eu"}'`,
	}
	remote := askForTable(cmd, func(cmd *cobra.Command, c *client.Client, args []string) (*table.Table, error) {
		var answer struct {
			Compared, Moved int
			Where           []sharedLabel
			Changes         []movement
		}
		ask := func(match, at string) error {
			return c.Do(cmd.Context(), "POST", "/v1/changes",
				map[string]any{"start": start, "stop": stop, "match": match, "at": at}, &answer)
		}
		at := start
		if len(args) > 0 {
			found, err := series.Search(cmd.Context(), c, args)
			if err != nil {
				return nil, err
			}
			var ids []string
			for _, s := range found {
				ids = append(ids, s.ID)
			}
			if err := ask(fmt.Sprintf("{metric_id=~%q}", strings.Join(ids, "|")), at); err != nil {
				return nil, err
			}
			if len(answer.Changes) == 0 || answer.Changes[0].Moved == 0 {
				return nil, fmt.Errorf("%s did not move", strings.Join(args, ", "))
			}
			at, answer.Changes = answer.Changes[0].MovedAt, nil
		}
		if err := ask(match, at); err != nil {
			return nil, err
		}
		fmt.Fprintf(cmd.ErrOrStderr(), "%d of %s moved far%s\n", answer.Moved, counted.Of(answer.Compared, "metric"),
			strings.TrimSuffix(": "+sharedLabels(answer.Where), ": "))
		t := &table.Table{Columns: []string{"moved_at", "lag", "metric", "before", "after", "usual", "score", "moved", "of",
			"where", "alike"}}
		for _, m := range answer.Changes {
			var alike []string
			for _, other := range m.Alike {
				alike = append(alike, other.Labels["__name__"])
			}
			if m.Moved > 0 {
				name := series.FromLabels(m.Labels).String()
				t.Add(m.MovedAt, m.Lag, name, m.Before, m.After, m.Usual, m.Score, m.Moved, m.Series,
					sharedLabels(m.Where), strings.Join(alike, ", "))
			}
		}
		return t, nil
	})
	series.DefineTime(cmd.Flags(), &start, "start", "-1h", "begin of the time, such as -1h")
	series.DefineTime(cmd.Flags(), &stop, "stop", "now", "end of the time")
	cmd.Flags().StringVar(&match, "match", `{metric_id!=""}`, "only metrics of a selector in PromQL")
	cmd.ValidArgsFunction = complete.Ask(remote, complete.Selectors)
	return cmd
}

// sharedLabels says which labels series that moved have, and others have not.
func sharedLabels(where []sharedLabel) (text string) {
	for _, p := range where {
		text += fmt.Sprintf(", %s=%s (%d of %d)", p.Label, p.Value, p.Moved, p.Of)
	}
	return strings.TrimPrefix(text, ", ")
}
