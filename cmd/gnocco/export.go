package main

import (
	"bufio"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/gnocco-db/gnocco/carbonara"
)

func newExport() *cobra.Command {
	var remote remoteFlags
	var read readFlags
	cmd := &cobra.Command{
		Use:   "export csv|jsonl|prometheus [SELECTOR...]",
		Short: "Write aggregates of metrics as CSV, JSON lines or Prometheus' text",
		Long: `Write aggregates of metrics to standard output, metric by metric, those of all metrics without a
SELECTOR. Each has the time at which its group begins.

` + selectorHelp + `

  csv         timestamp,resource,metric,value; gnocco import csv --nan --metric-column metric
              --resource-column resource reads it
  jsonl       an object a metric, as VictoriaMetrics exports it: labels, values, times in ms
  prometheus  a line an aggregate, in Prometheus' text format: labels, value, time in ms`,
		Example: `  gnocco export csv house/outside --start -7d
  gnocco export jsonl '{job="node"}' --aggregation max --granularity 1h`,
		Args:      cobra.MinimumNArgs(1),
		ValidArgs: []string{"csv", "jsonl", "prometheus"},
		RunE: func(cmd *cobra.Command, args []string) error {
			form := exportForms[args[0]]
			if form == nil {
				return fmt.Errorf("format %q is none of csv, jsonl and prometheus", args[0])
			}
			c, err := remote.client()
			if err != nil {
				return err
			}
			found, err := find(cmd.Context(), c, args[1:])
			if err != nil {
				return err
			}
			r, err := newReader(cmd.Context(), c, &read)
			if err != nil {
				return err
			}
			out := bufio.NewWriterSize(cmd.OutOrStdout(), 64<<10)
			write := form(out)
			for _, s := range found {
				row, end := write(s)
				if err := r.aggregates(cmd.Context(), s, row); err != nil {
					return fmt.Errorf("%s: %w", s.shown(), err)
				}
				if err := end(); err != nil {
					return err
				}
			}
			return out.Flush()
		},
	}
	remote.define(cmd.Flags(), defaultURL, "address of the server, with its prefix if it has one")
	read.define(cmd.Flags(), "")
	return cmd
}

// rowWriter takes an aggregate.
type rowWriter = func(at carbonara.Timestamp, text string, value float64) error

// exportForms begin an export to out. They return a function that begins a metric, whose aggregates then go to row.
var exportForms = map[string]func(out io.Writer) func(s *foundSeries) (row rowWriter, end func() error){
	"csv": exportCSV, "jsonl": exportLines, "prometheus": exportPrometheus,
}

func exportCSV(out io.Writer) func(s *foundSeries) (rowWriter, func() error) {
	w := csv.NewWriter(out)
	_ = w.Write([]string{"timestamp", "resource", "metric", "value"}) // Error has it
	return func(s *foundSeries) (rowWriter, func() error) {
		name := s.name
		if s.resource == "" || name == "" {
			name = seriesText(s.labels)
		}
		return func(_ carbonara.Timestamp, text string, value float64) error {
				return w.Write([]string{text, s.resource, name, strconv.FormatFloat(value, 'g', -1, 64)})
			}, func() error {
				w.Flush()
				return w.Error()
			}
	}
}

// exportLines writes an object a metric. Its values come before its times, which wait in memory until then.
func exportLines(out io.Writer) func(s *foundSeries) (rowWriter, func() error) {
	return func(s *foundSeries) (rowWriter, func() error) {
		var times, values []byte
		return func(at carbonara.Timestamp, _ string, value float64) error {
				if len(times) > 0 {
					times, values = append(times, ','), append(values, ',')
				}
				times = strconv.AppendInt(times, int64(at)/1e6, 10)
				if math.IsNaN(value) || math.IsInf(value, 0) {
					values = append(values, `"`+strconv.FormatFloat(value, 'g', -1, 64)+`"`...)
				} else {
					values = strconv.AppendFloat(values, value, 'g', -1, 64)
				}
				return nil
			}, func() error {
				if len(times) == 0 {
					return nil
				}
				labels, err := json.Marshal(s.labels)
				if err != nil {
					return err
				}
				_, err = fmt.Fprintf(out, `{"metric":%s,"values":[%s],"timestamps":[%s]}`+"\n", labels, values, times)
				return err
			}
	}
}

func exportPrometheus(out io.Writer) func(s *foundSeries) (rowWriter, func() error) {
	return func(s *foundSeries) (rowWriter, func() error) {
		series := seriesText(s.labels)
		return func(at carbonara.Timestamp, _ string, value float64) error {
			_, err := fmt.Fprintf(out, "%s %s %d\n", series, strconv.FormatFloat(value, 'g', -1, 64), int64(at)/1e6)
			return err
		}, func() error { return nil }
	}
}
