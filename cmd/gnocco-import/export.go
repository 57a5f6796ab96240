package main

import (
	"cmp"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/cmd/gnocco-client/series"
	"github.com/gnocco-db/gnocco/cmd/gnocco-import/exports"
	"github.com/gnocco-db/gnocco/internal/client"
)

// export writes the metrics that args[1:] select, in the form args[0].
func export(cmd *cobra.Command, o *exports.Options, args []string) error {
	c, err := o.Remote.Client()
	if err != nil {
		return err
	}
	found, err := series.Find(cmd.Context(), c, args[1:])
	if err != nil {
		return err
	}
	out := &exportOutput{out: cmd.OutOrStdout()}
	if o.To != "" {
		of := append([]string{o.Read.Start, o.Read.Stop, o.Read.Method, o.Read.Granularity}, args...)
		if out, err = exportTo(o.To, of); err != nil {
			return err
		}
	}
	next := cmp.Or(o.From, out.progress.Next)
	goesOn := next != ""
	found = found[startOf(found, next, cmp.Or(o.From, out.progress.Name)):]
	write, err := beginExport(cmd.Context(), c, &o.Read, args, len(found), goesOn, out)
	if err != nil {
		return err
	}
	at := func(i int) *series.Series {
		if i < len(found) {
			return found[i]
		}
		return nil
	}
	if err := out.commit(at(0)); err != nil { // the header
		return err
	}
	for i, s := range found {
		if err = write(s); err == nil {
			err = out.commit(at(i + 1))
		}
		if err != nil {
			err = s.Failed(errors.Join(err, out.save()))
			if o.To != "" {
				return fmt.Errorf("%w (the same command goes on here)", err)
			}
			from := s.String()
			if i > 0 && found[i-1].String() == from {
				from = s.ID
			}
			return fmt.Errorf("%w (to go on here: --from '%s')", err, strings.ReplaceAll(from, "'", `'\''`)) // for a shell
		}
	}
	return out.finish()
}

// beginExport returns what writes each of so many metrics. One that goes on has no header.
func beginExport(ctx context.Context, c *client.Client, read *series.ReadFlags, args []string, metrics int, goesOn bool,
	out io.Writer) (func(*series.Series) error, error) {
	if args[0] == exports.Archive {
		if *read != (series.ReadFlags{}) {
			return nil, errors.New("an export of archives has all of each metric: " +
				"--start, --stop, --aggregation and --granularity do not go with it")
		}
		e, err := exportArchives(ctx, c, out, metrics, len(args) == 1 && !goesOn)
		if err != nil {
			return nil, err
		}
		return func(s *series.Series) error { return e.metric(ctx, s) }, nil
	}
	r, err := series.NewReader(ctx, c, read)
	if err != nil {
		return nil, err
	}
	write := exportForms[args[0]](out, read.Granularity == series.AllGranularities, goesOn)
	return func(s *series.Series) error { return exportMetric(ctx, r, s, write) }, nil
}

// exportMetric writes a metric's aggregates of each granularity that is asked for.
func exportMetric(ctx context.Context, r *series.Reader, s *series.Series, write beginMetric) error {
	list, err := r.Granularities(s)
	if err != nil {
		return err
	}
	for _, granularity := range list {
		row, end := write(s, granularity)
		if err := r.Each(ctx, s, granularity, row); err != nil {
			return err
		}
		if err := end(); err != nil {
			return err
		}
	}
	return nil
}

// beginMetric begins a metric, whose aggregates then go to row.
type beginMetric func(s *series.Series, granularity time.Duration) (row series.Row, end func() error)

// startOf returns where the metric of an ID is, else where one of that name is or would be.
func startOf(found []*series.Series, id, name string) int {
	if at := slices.IndexFunc(found, func(s *series.Series) bool { return s.ID == id }); at >= 0 {
		return at
	}
	return sort.Search(len(found), func(i int) bool { return found[i].String() >= name })
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
	return func(s *series.Series, granularity time.Duration) (series.Row, func() error) {
		fields := []string{"", s.Resource, s.Name, s.Unit, s.Policy}
		if s.Resource == "" || s.Name == "" {
			fields[2] = series.Text(s.Labels)
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
	return func(s *series.Series, granularity time.Duration) (series.Row, func() error) {
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
				labels, err := json.Marshal(s.Labels)
				if err != nil {
					return err
				}
				more, err := json.Marshal(exportedMetric{s.Resource, s.Name, s.Unit, s.SetType, s.Policy,
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
	return func(s *series.Series, _ time.Duration) (series.Row, func() error) {
		labels := s.Labels
		if s.ResourceID != "" { // as in PromQL: it tells metrics of one name
			labels = maps.Clone(labels)
			labels["resource_id"] = s.ResourceID
		}
		text := series.Text(labels)
		return func(at carbonara.Timestamp, _ string, value float64) error {
			_, err := fmt.Fprintf(out, "%s %s %d\n", text, strconv.FormatFloat(value, 'g', -1, 64), int64(at)/1e6)
			return err
		}, func() error { return nil }
	}
}
