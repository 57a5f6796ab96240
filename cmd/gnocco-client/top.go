package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/gnocco-db/gnocco/cmd/shared/progress"
	"github.com/gnocco-db/gnocco/cmd/shared/table"
	"github.com/gnocco-db/gnocco/internal/client"
	"github.com/gnocco-db/gnocco/internal/pause"
	"github.com/gnocco-db/gnocco/query/activity"
)

// topCosts is how many of the most expensive queries gnocco top shows.
const topCosts = 10

// Queries that come often and aggregate series are proposed as recording rules.
const oftenAsked = 10

var aggregates = regexp.MustCompile(`^(sum|avg|min|max|count|stddev|quantile) *(by|without|\()`)

func newTop() *cobra.Command {
	var every time.Duration
	var count int
	var kill string
	cmd := &cobra.Command{
		Use:   "top",
		Short: "Show the queries that run, and those that cost most",
		Long: `Show the queries that run in all processes, the longest first, and those that took most time since
the processes began, again and again until it is interrupted. --kill ends a query that runs.

gnocco list queries, costs and unread write the same as JSON or CSV, and the metrics that no query
has read.`,
		Example: `  gnocco top
  gnocco top --kill 5f0c3b6a1d2e4f78`,
		Args: cobra.NoArgs,
	}
	askServer(cmd, func(cmd *cobra.Command, c *client.Client, _ []string) error {
		if kill != "" {
			return c.Do(cmd.Context(), "DELETE", "/v1/queries/"+url.PathEscape(kill), nil, nil)
		}
		if every < 100*time.Millisecond {
			return errors.New("--every must be at least 100ms")
		}
		out := cmd.OutOrStdout()
		for n := 1; ; n++ {
			costs := new(table.Table)
			running, err := listQueries(cmd.Context(), c, nil)
			if err == nil {
				costs, err = listCosts(cmd.Context(), c, nil)
			}
			if cmd.Context().Err() != nil {
				return nil // interrupted
			} else if err != nil {
				return err
			}
			costs.Rows = costs.Rows[:min(len(costs.Rows), topCosts)]
			if progress.IsTerminal(out) {
				fmt.Fprint(out, "\x1b[H\x1b[2J") // over the earlier tables
			}
			fmt.Fprintln(out, time.Now().UTC().Format(time.RFC3339))
			if err := running.Write(out, "table"); err != nil {
				return err
			}
			fmt.Fprintln(out)
			if err := costs.Write(out, "table"); err != nil || n == count || pause.For(cmd.Context(), every) != nil {
				return err
			}
		}
	})
	cmd.Flags().DurationVar(&every, "every", 2*time.Second, "time between two tables")
	cmd.Flags().IntVar(&count, "count", 0, "number of tables; 0: until it is interrupted")
	cmd.Flags().StringVar(&kill, "kill", "", "end the query with this ID")
	return cmd
}

func listQueries(ctx context.Context, c *client.Client, _ []string) (*table.Table, error) {
	t := &table.Table{Columns: []string{"id", "user", "seconds", "state", "metrics", "groups", "query"}}
	return t, eachQuery(ctx, c, func(q activity.Running, state string) {
		t.Add(q.ID, q.User, seconds(q.Seconds), state, q.Metrics, q.Groups, queryText(q.Route, q.Query))
	})
}

// eachQuery passes the queries that run to use.
func eachQuery(ctx context.Context, c *client.Client, use func(q activity.Running, state string)) error {
	var all []activity.Running
	err := c.Do(ctx, "GET", "/v1/queries", nil, &all)
	for _, q := range all {
		state := "runs"
		if q.Waiting {
			state = "waits"
		}
		use(q, state)
	}
	return err
}

func listCosts(ctx context.Context, c *client.Client, _ []string) (*table.Table, error) {
	var answer struct {
		Queries []activity.Cost `json:"queries"`
	}
	err := c.Do(ctx, "GET", "/v1/queries/costs", nil, &answer)
	t := &table.Table{Columns: []string{"seconds", "count", "mean", "by_rule", "mean_by_rule", "metrics", "groups", "query"}}
	for _, q := range answer.Queries {
		mean := (q.Seconds - q.SecondsByRule) / float64(max(1, q.Count-q.ByRule))
		byRule, text := q.SecondsByRule/float64(max(1, q.ByRule)), queryText(q.Route, q.Query)
		if q.Count >= oftenAsked && q.ByRule == 0 && aggregates.MatchString(q.Query) {
			text += "  [gnocco rules keep]"
		}
		t.Add(seconds(q.Seconds), q.Count, seconds(mean), q.ByRule, seconds(byRule), q.Metrics, q.Groups, text)
	}
	return t, err
}

func listUnread(ctx context.Context, c *client.Client, _ []string) (*table.Table, error) {
	var answer struct {
		List []struct {
			ID, Name string
			Policy   string `json:"archive_policy_name"`
			Resource string `json:"original_resource_id"`
		}
	}
	err := c.Do(ctx, "GET", "/v1/queries/unread", nil, &answer)
	t := &table.Table{Columns: []string{"metric", "policy", "id"}}
	for _, m := range answer.List {
		if m.Resource != "" {
			m.Name = m.Resource + "/" + m.Name
		}
		t.Add(m.Name, m.Policy, m.ID)
	}
	return t, err
}

// seconds rounds to milliseconds.
func seconds(s float64) float64 { return float64(int64(s*1000+0.5)) / 1000 }

// queryText is a query's text on one line, after its route unless that is a part of it.
func queryText(route, text string) string {
	const most = 100
	if len(text) == 0 || text[0] != '/' {
		text = route + " " + text
	}
	quoted := fmt.Sprintf("%q", text) // without line ends and what a terminal would obey
	line := []rune(strings.ReplaceAll(quoted[1:len(quoted)-1], `\"`, `"`))
	if len(line) > most {
		line = append(line[:most-1], '…')
	}
	return string(line)
}
