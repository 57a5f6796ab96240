package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/url"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/cmd/gnocco-client/series"
	"github.com/gnocco-db/gnocco/cmd/shared/table"
	"github.com/gnocco-db/gnocco/internal/client"
	"github.com/gnocco-db/gnocco/model"
)

func newQuery() *cobra.Command {
	var at, start, stop, step string
	var chart bool
	cmd := &cobra.Command{
		Use:   "query EXPRESSION",
		Short: "Evaluate an expression in PromQL",
		Long: `Evaluate an expression in PromQL, at one time or, with --start, at every step of a range. Warnings of
the server go to standard error. With --chart a range is a line a series, with a chart.`,
		Example: `  gnocco query 'sum by (job) (rate(http_requests_total[5m]))'
  gnocco query up --start -1h --step 1m -o csv
  gnocco query 'rate(http_requests_total[5m])' --start -1d --step 10m --chart`,
		Args: cobra.ExactArgs(1),
	}
	askForTable(cmd, func(cmd *cobra.Command, c *client.Client, args []string) (*table.Table, error) {
		for _, flag := range []string{"chart", "stop", "step"} {
			if cmd.Flags().Changed(flag) && start == "" {
				return nil, fmt.Errorf("--%s: give --start as well, where the range begins", flag)
			}
		}
		query := url.Values{"query": {args[0]}}
		path := "/api/v1/query?"
		now := carbonara.FromTime(time.Now())
		moments := map[string]string{"time": at}
		if start != "" {
			path, moments = "/api/v1/query_range?", map[string]string{"start": start, "end": stop}
			query.Set("step", step)
		}
		for parameter, text := range moments {
			moment, err := model.ParseTimestamp(text, now)
			if text == "" || text == "now" {
				moment, err = now, nil
			}
			if err != nil {
				return nil, fmt.Errorf("time %q: %w", text, err)
			}
			query.Set(parameter, moment.Time().Format(time.RFC3339Nano))
		}
		return evaluate(cmd, c, path+query.Encode(), chart)
	})
	flags := cmd.Flags()
	series.DefineTime(flags, &at, "time", "", "when to evaluate, such as -1h (default: now)")
	series.DefineTime(flags, &start, "start", "", "evaluate at every step from this time on")
	series.DefineTime(flags, &stop, "stop", "", "last time of a range (default: now)")
	flags.StringVar(&step, "step", "1m", "time between two steps of a range")
	flags.BoolVar(&chart, "chart", false, "write a line a series, with a chart of its range")
	cmd.MarkFlagsMutuallyExclusive("time", "start")
	return cmd
}

// promSample is [seconds, "value"].
type promSample struct {
	time  string
	value any
}

func (s *promSample) UnmarshalJSON(text []byte) error {
	var seconds json.Number
	var value string
	if err := json.Unmarshal(text, &[2]any{&seconds, &value}); err != nil {
		return err
	}
	at, err := strconv.ParseFloat(seconds.String(), 64)
	if err != nil {
		return err
	}
	s.time, s.value = time.UnixMilli(int64(at*1000+0.5)).UTC().Format("2006-01-02T15:04:05.999Z07:00"), value
	if number, err := strconv.ParseFloat(value, 64); err == nil {
		s.value = number
	}
	return nil
}

// evaluate returns a server's answer to a query as a table: a row a sample, or a series.
func evaluate(cmd *cobra.Command, c *client.Client, path string, chart bool) (*table.Table, error) {
	var answer struct {
		Warnings []string `json:"warnings"`
		Infos    []string `json:"infos"`
		Data     struct {
			Type   string          `json:"resultType"`
			Result json.RawMessage `json:"result"`
		} `json:"data"`
	}
	if err := c.Do(cmd.Context(), "GET", path, nil, &answer); err != nil {
		return nil, err
	}
	for _, note := range append(answer.Warnings, answer.Infos...) {
		if _, err := io.WriteString(cmd.ErrOrStderr(), note+"\n"); err != nil {
			return nil, err
		}
	}
	t := &table.Table{Columns: []string{"series", "time", "value"}}
	if kind := answer.Data.Type; kind == "scalar" || kind == "string" {
		var one promSample
		err := json.Unmarshal(answer.Data.Result, &one)
		t.Add("", one.time, one.value)
		return t, err
	}
	var all []struct {
		Metric map[string]string `json:"metric"`
		Value  *promSample       `json:"value"`
		Values []promSample      `json:"values"`
	}
	err := json.Unmarshal(answer.Data.Result, &all)
	if err == nil && len(all) == 0 {
		_, err = io.WriteString(cmd.ErrOrStderr(), "no series has a value there (gnocco list metrics shows all)\n")
	}
	if chart {
		t.Columns = []string{"series", "points", "from", "to", "min", "mean", "max", "last", "chart"}
		for _, s := range all {
			addChart(t, series.Text(s.Metric), s.Values)
		}
		return t, err
	}
	for _, s := range all {
		if s.Value != nil {
			s.Values = append(s.Values, *s.Value)
		}
		for _, sample := range s.Values {
			t.Add(series.Text(s.Metric), sample.time, sample.value)
		}
	}
	return t, err
}

// addChart adds the row of a series of a range, which may have histograms alone.
func addChart(t *table.Table, series string, samples []promSample) {
	if len(samples) == 0 {
		t.Add(append([]any{series, 0, "", ""}, summary(nil, nil)...)...)
		return
	}
	times, values := make([]carbonara.Timestamp, len(samples)), make([]float64, len(samples))
	for i, sample := range samples {
		at, err := time.Parse(time.RFC3339, sample.time)
		times[i], values[i] = carbonara.FromTime(at), math.NaN()
		if number, ok := sample.value.(float64); ok && err == nil {
			values[i] = number
		}
	}
	row := []any{series, len(samples), samples[0].time, samples[len(samples)-1].time}
	t.Add(append(row, summary(times, values)...)...)
}
