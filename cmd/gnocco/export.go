package main

import (
	"cmp"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/internal/client"
)

func newExport() *cobra.Command {
	var remote remoteFlags
	var read readFlags
	var from, to string
	cmd := &cobra.Command{
		Use:   "export csv|jsonl|prometheus|archive [SELECTOR...]",
		Short: "Write aggregates of metrics as CSV, JSON lines or Prometheus' text, or whole archives",
		Long: `Write aggregates of metrics to standard output, metric by metric, those of all metrics without a
SELECTOR, in the order of their names. Each has the time at which its group begins. If an export ends
early, it says by which --from another one goes on: the output of both is the whole. With --to the
same command goes on, also after a kill or a crash.

` + selectorHelp + `

  csv         timestamp,resource,metric,unit,archive_policy,value; gnocco import csv reads it
  jsonl       an object a metric, as VictoriaMetrics exports it: labels, values, times in ms;
              gnocco import jsonl reads it
  prometheus  a line an aggregate, in Prometheus' text format: labels, value, time in ms
  archive     all of each metric, for another Gnocco: its archive to the bit, resource, type, labels,
              archive policy; without a SELECTOR also all policies, rules and types of resources;
              gnocco import archive reads it

With --granularity all, each metric has its aggregates of all granularities, the finest first; csv has
one more column with it. An import takes one granularity.`,
		Example: `  gnocco export csv house/outside --start -7d
  gnocco export jsonl '{job="node"}' --aggregation max --granularity 1h
  gnocco export archive '{project_id="p"}' | gnocco import archive --url http://other:8041 -`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if args[0] != archiveForm && exportForms[args[0]] == nil {
				return fmt.Errorf("format %q is none of csv, jsonl, prometheus and archive", args[0])
			}
			c, err := remote.Client()
			if err != nil {
				return err
			}
			found, err := find(cmd.Context(), c, args[1:])
			if err != nil {
				return err
			}
			out := &exportOutput{out: cmd.OutOrStdout()}
			if to != "" {
				of := append([]string{read.start, read.stop, read.method, read.granularity}, args...)
				if out, err = exportTo(to, of); err != nil {
					return err
				}
			}
			next := cmp.Or(from, out.progress.Next)
			goesOn := next != ""
			found = found[startOf(found, next, cmp.Or(from, out.progress.Name)):]
			export, err := beginExport(cmd.Context(), c, &read, args, len(found), goesOn, out)
			if err != nil {
				return err
			}
			at := func(i int) *foundSeries {
				if i < len(found) {
					return found[i]
				}
				return nil
			}
			if err := out.commit(at(0)); err != nil { // the header
				return err
			}
			for i, s := range found {
				if err = export(s); err == nil {
					err = out.commit(at(i + 1))
				}
				if err != nil {
					err = s.failed(errors.Join(err, out.save()))
					if to != "" {
						return fmt.Errorf("%w (the same command goes on here)", err)
					}
					from := s.shown()
					if i > 0 && found[i-1].shown() == from {
						from = s.id
					}
					return fmt.Errorf("%w (to go on here: --from '%s')", err, strings.ReplaceAll(from, "'", `'\''`)) // for a shell
				}
			}
			return out.finish()
		},
	}
	remote.Define(cmd.Flags(), defaultURL, "address of the server, with its prefix if it has one")
	read.define(cmd.Flags(), "")
	cmd.ValidArgsFunction = firstOf([]string{"csv", "jsonl", "prometheus", archiveForm}, ask(&remote, proposeSelectors))
	completeFlags(cmd, &remote)
	cmd.Flags().StringVar(&from, "from", "", "go on with an export: without the metrics before this one, and the header")
	cmd.Flags().StringVar(&to, "to", "", "write this file, by way of FILE.part; after an interruption the same command goes on")
	cmd.MarkFlagsMutuallyExclusive("from", "to")
	return cmd
}

// archiveForm is the form of an export that has whole archives.
const archiveForm = "archive"

// beginExport returns what writes each of so many metrics. One that goes on has no header.
func beginExport(ctx context.Context, c *client.Client, read *readFlags, args []string, metrics int, goesOn bool,
	out io.Writer) (func(*foundSeries) error, error) {
	if args[0] == archiveForm {
		if *read != (readFlags{}) {
			return nil, errors.New("an export of archives has all of each metric: " +
				"--start, --stop, --aggregation and --granularity do not go with it")
		}
		e, err := exportArchives(ctx, c, out, metrics, len(args) == 1 && !goesOn)
		if err != nil {
			return nil, err
		}
		return func(s *foundSeries) error { return e.metric(ctx, s) }, nil
	}
	r, err := newReader(ctx, c, read)
	if err != nil {
		return nil, err
	}
	write := exportForms[args[0]](out, read.granularity == allGranularities, goesOn)
	return func(s *foundSeries) error { return exportMetric(ctx, r, s, write) }, nil
}

// exportMetric writes a metric's aggregates of each granularity that is asked for.
func exportMetric(ctx context.Context, r *reader, s *foundSeries, write beginMetric) error {
	list, err := r.granularities(s)
	if err != nil {
		return err
	}
	for _, granularity := range list {
		row, end := write(s, granularity)
		if err := r.each(ctx, s, granularity, row); err != nil {
			return err
		}
		if err := end(); err != nil {
			return err
		}
	}
	return nil
}

// rowWriter takes an aggregate.
type rowWriter = func(at carbonara.Timestamp, text string, value float64) error

// beginMetric begins a metric, whose aggregates then go to row.
type beginMetric func(s *foundSeries, granularity time.Duration) (row rowWriter, end func() error)

// startOf returns where the metric of an ID is, else where one of that name is or would be.
func startOf(found []*foundSeries, id, name string) int {
	if at := slices.IndexFunc(found, func(s *foundSeries) bool { return s.id == id }); at >= 0 {
		return at
	}
	return sort.Search(len(found), func(i int) bool { return found[i].shown() >= name })
}

// exportForms begin an export to out, of several granularities or one, or go on with it.
var exportForms = map[string]func(out io.Writer, several, goesOn bool) beginMetric{
	"csv": exportCSV, "jsonl": exportLines, "prometheus": exportPrometheus,
}

func exportCSV(out io.Writer, several, goesOn bool) beginMetric {
	w := csv.NewWriter(out)
	header := []string{"timestamp", "resource", "metric", "unit", "archive_policy"}
	if several {
		header = append(header, "granularity")
	}
	if !goesOn {
		_ = w.Write(append(header, "value")) // Error has it
		w.Flush()
	}
	return func(s *foundSeries, granularity time.Duration) (rowWriter, func() error) {
		fields := []string{"", s.resource, s.name, s.unit, s.policy}
		if s.resource == "" || s.name == "" {
			fields[2] = seriesText(s.labels)
		}
		if several {
			fields = append(fields, strconv.FormatFloat(granularity.Seconds(), 'f', -1, 64))
		}
		fields = append(fields, "")
		return func(_ carbonara.Timestamp, text string, value float64) error {
				fields[0], fields[len(fields)-1] = text, strconv.FormatFloat(value, 'g', -1, 64)
				return w.Write(fields)
			}, func() error {
				w.Flush()
				return w.Error()
			}
	}
}

// exportedMetric is what JSON lines say of a metric beside its labels.
type exportedMetric struct {
	Resource    string  `json:"resource,omitempty"`
	Name        string  `json:"name,omitempty"`
	Unit        string  `json:"unit,omitempty"`
	Type        string  `json:"type,omitempty"`
	Policy      string  `json:"archive_policy"`
	Granularity float64 `json:"granularity"` // in seconds
}

// exportLines writes an object a metric. Its values come before its times, which wait in memory until then.
func exportLines(out io.Writer, _, _ bool) beginMetric {
	return func(s *foundSeries, granularity time.Duration) (rowWriter, func() error) {
		var times, values []byte
		return func(at carbonara.Timestamp, _ string, value float64) error {
				if len(times) > 0 {
					times, values = append(times, ','), append(values, ',')
				}
				times = strconv.AppendInt(times, int64(at)/1e6, 10)
				if rest := int64(at) % 1e6; rest != 0 {
					times = append(append(times, '.'), strings.TrimRight(fmt.Sprintf("%06d", rest), "0")...)
				}
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
				more, err := json.Marshal(exportedMetric{s.resource, s.name, s.unit, s.setType, s.policy,
					granularity.Seconds()})
				if err != nil {
					return err
				}
				_, err = fmt.Fprintf(out, `{"metric":%s,"values":[%s],"timestamps":[%s],"gnocco":%s}`+"\n", labels, values, times,
					more)
				return err
			}
	}
}

func exportPrometheus(out io.Writer, _, _ bool) beginMetric {
	return func(s *foundSeries, _ time.Duration) (rowWriter, func() error) {
		series := seriesText(s.labels)
		return func(at carbonara.Timestamp, _ string, value float64) error {
			_, err := fmt.Fprintf(out, "%s %s %d\n", series, strconv.FormatFloat(value, 'g', -1, 64), int64(at)/1e6)
			return err
		}, func() error { return nil }
	}
}
