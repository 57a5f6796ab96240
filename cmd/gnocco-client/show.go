package main

import (
	"math"
	"slices"

	"github.com/spf13/cobra"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/cmd/gnocco-client/complete"
	"github.com/gnocco-db/gnocco/cmd/gnocco-client/series"
	"github.com/gnocco-db/gnocco/cmd/shared/table"
	"github.com/gnocco-db/gnocco/internal/client"
)

// sparkColumns is how wide the chart of a metric is.
const sparkColumns = 32

func newShow() *cobra.Command {
	var read series.ReadFlags
	cmd := &cobra.Command{
		Use:   "show SELECTOR...",
		Short: "Show metrics: a line each, with a chart",
		Long: `Show the aggregates of metrics in a line each: their number, least, mean, greatest and last value,
and a chart. gnocco export writes the aggregates themselves.

` + series.SelectorHelp,
		Example: `  gnocco show house/outside --since 7d
  gnocco show '{__name__=~"node_load.*"}' --start -1h`,
		Args: cobra.MinimumNArgs(1),
	}
	remote := askForTable(cmd, func(cmd *cobra.Command, c *client.Client, args []string) (*table.Table, error) {
		return showAll(cmd, c, &read, args)
	})
	read.Define(cmd.Flags(), "-1d")
	cmd.MarkFlagsMutuallyExclusive("since", "start")
	cmd.ValidArgsFunction = complete.Ask(remote, complete.Selectors)
	complete.Flags(cmd, remote)
	return cmd
}

// showAll returns a table of the metrics that selectors mean.
func showAll(cmd *cobra.Command, c *client.Client, read *series.ReadFlags, selectors []string) (*table.Table, error) {
	found, err := series.Search(cmd.Context(), c, selectors)
	if err != nil {
		return nil, err
	}
	r, err := series.NewReader(cmd.Context(), c, read)
	if err != nil {
		return nil, err
	}
	t := &table.Table{Columns: []string{"metric", "aggregation", "points", "from", "to", "min", "mean", "max", "last", "chart"}}
	for _, s := range found {
		if err := showMetric(cmd, r, s, t); err != nil {
			return nil, s.Failed(err)
		}
	}
	return t, nil
}

// showMetric adds a metric's row.
func showMetric(cmd *cobra.Command, r *series.Reader, s *series.Series, t *table.Table) error {
	method, err := r.Method(s)
	if err != nil {
		return err
	}
	var times []carbonara.Timestamp
	var values []float64
	var from, to string
	err = r.Aggregates(cmd.Context(), s, func(at carbonara.Timestamp, text string, value float64) error {
		if to = text; from == "" {
			from = text
		}
		times, values = append(times, at), append(values, value)
		return nil
	})
	if err != nil {
		return err
	}
	t.Add(append([]any{s.String(), method, len(values), from, to}, summary(times, values)...)...)
	return nil
}

// summary returns the least, the mean and the greatest of the values that are numbers, the last value, and their chart.
func summary(times []carbonara.Timestamp, values []float64) []any {
	if len(values) == 0 {
		return []any{nil, nil, nil, nil, ""}
	}
	least, greatest, sum, numbers := math.Inf(1), math.Inf(-1), 0.0, 0.0
	low, high := least, greatest // of finite values, which a chart has room for
	for _, v := range values {
		if v != v {
			continue
		}
		least, greatest, sum, numbers = min(least, v), max(greatest, v), sum+v, numbers+1
		if !math.IsInf(v, 0) {
			low, high = min(low, v), max(high, v)
		}
	}
	mean, last := sum/numbers, values[len(values)-1]
	if numbers == 0 {
		least, greatest = mean, mean // NaN
	}
	return []any{least, mean, greatest, last, sparkline(times, values, low, high)}
}

// sparkline draws values by time, the mean of each column. A value lasts until the next one, unless that is further
// away than values are as a rule: then there is a gap, as where a value is not a number.
func sparkline(times []carbonara.Timestamp, values []float64, least, greatest float64) string {
	first := times[0]
	width := times[len(times)-1] - first + 1
	columnOf := func(at carbonara.Timestamp) int {
		return min(int(float64(at-first)/float64(width)*sparkColumns), sparkColumns-1) // the last rounds up
	}
	distances := make([]carbonara.Timestamp, len(times)-1)
	for i := range distances {
		distances[i] = times[i+1] - times[i]
	}
	slices.Sort(distances)
	var sums, counts [sparkColumns]float64
	for i, v := range values {
		if v != v {
			continue
		}
		v = min(max(v, least), greatest) // infinities
		column := columnOf(times[i])
		sums[column] += v
		counts[column]++
		if i == len(distances) || times[i+1]-times[i] > distances[len(distances)/2]*3/2 {
			continue
		}
		for next := columnOf(times[i+1]); column+1 < next; {
			column++
			sums[column], counts[column] = v, 1
		}
	}
	line := make([]rune, 0, sparkColumns)
	for i, n := range counts {
		mark := ' '
		if height := (sums[i]/n/2 - least/2) / (greatest/2 - least/2); n > 0 && height >= 0 { // halves do not overflow
			mark = []rune("▁▂▃▄▅▆▇█")[min(int(height*8), 7)]
		} else if n > 0 {
			mark = '▁' // all values are equal
		}
		line = append(line, mark)
	}
	return string(line)
}
