package query_test

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/query"
	"github.com/gnocco-db/gnocco/query/aggregates"
	"github.com/gnocco-db/gnocco/tests/testnode"
)

// Each file is a script on a store of its own. Times are seconds since 1970. Commands:
//
//	metric name=a policy=(60s,1h) methods=(mean,count)    and below it a line "time value" for each measure
//	read metric=a method=mean [granularity=1m] [from=0] [to=600] [resample=1h] [tz=zone] [exact] [rows=10]
//	    and below it a condition in JSON, or nothing; the answer has a line for each granularity
//	evaluate granularity=1m [from=0] [to=600] [fill=0] [rows=10] [of=(a,b)]
//	    and below it the operation, whose metrics are named by the script's names; of evaluates it for each of these
//	    metrics instead of the first, each a group of its own
func TestScripts(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		if filepath.Ext(path) != ".txt" {
			return
		}
		node := testnode.Start(t, testnode.Options{FS: vfs.NewMem(), Sacks: 2, Workers: 1})
		defer node.Stop(t.Context())
		s := &script{Node: node, metrics: map[string]*model.Metric{},
			reader: &query.Reader{Archives: testnode.Archives{Metricd: node.Metricd},
				Resampler: carbonara.NewCPUResampler(1)}}
		datadriven.RunTest(t, path, s.run)
	})
}

type script struct {
	*testnode.Node
	reader  *query.Reader
	metrics map[string]*model.Metric
}

func (s *script) run(t *testing.T, d *datadriven.TestData) string {
	t.Helper()
	var lines []string
	var err error
	switch d.Cmd {
	case "metric":
		err = s.create(t.Context(), d)
	case "read":
		lines, err = s.read(t.Context(), d)
	case "evaluate":
		lines, err = s.evaluate(t.Context(), d)
	default:
		d.Fatalf(t, "unknown command %s", d.Cmd)
	}
	if err != nil {
		return fmt.Sprintf("%T: %v\n", err, err)
	}
	return strings.Join(lines, "\n") + "\n"
}

// create makes a metric and posts its measures.
func (s *script) create(ctx context.Context, d *datadriven.TestData) error {
	name := argument(d, "name", "")
	metric := &model.Metric{ID: uuid.UUID{14: 1, 15: byte(len(s.metrics) + 1)}, Creator: "me"}
	var definition []model.DefinitionInput
	for _, text := range list(d, "policy") {
		granularity, err := time.ParseDuration(text)
		if err != nil {
			return err
		}
		definition = append(definition, model.DefinitionInput{Granularity: &granularity})
	}
	policy, err := model.NewArchivePolicy("of-"+name, 0, definition, list(d, "methods"))
	if err != nil {
		return err
	}
	if err := s.Index.CreateArchivePolicy(ctx, policy); err != nil {
		return err
	}
	metric.ArchivePolicy = policy
	if err := s.Index.CreateMetric(ctx, metric); err != nil {
		return err
	}
	if s.metrics[name], err = s.Index.Metric(metric.ID); err != nil {
		return err
	}
	m := &model.Measures{Metrics: []uuid.UUID{metric.ID}}
	for line := range strings.Lines(d.Input) {
		var seconds, value float64
		if _, err := fmt.Sscan(line, &seconds, &value); err != nil {
			return err
		}
		m.Timestamps = append(m.Timestamps, carbonara.Timestamp(seconds*1e9))
		m.Values = append(m.Values, value)
	}
	m.Offsets = []int{0, len(m.Values)}
	if err := s.Post(m); err != nil {
		return err
	}
	return s.reader.Refresh(ctx, metric)
}

// read reads the aggregates of a metric.
func (s *script) read(ctx context.Context, d *datadriven.TestData) (lines []string, err error) {
	metric := s.metrics[argument(d, "metric", "")]
	read := &query.MetricRead{Metric: metric, Exact: d.HasArg("exact"), From: seconds(d, "from", 0),
		To: seconds(d, "to", carbonara.MaxTimestamp), Rows: rows(d), Granularities: slices.Clone(metric.ArchivePolicy.Granularities())}
	slices.SortFunc(read.Granularities, func(a, b time.Duration) int { return int(b - a) })
	if text := argument(d, "granularity", ""); text != "" {
		granularity, err := time.ParseDuration(text)
		if err != nil {
			return nil, err
		}
		read.Granularities = []time.Duration{granularity}
	}
	if read.Method, err = carbonara.ParseMethod(argument(d, "method", "mean")); err != nil {
		return nil, err
	}
	if read.Resample, err = query.ParseGrouping(argument(d, "resample", ""), argument(d, "tz", "")); err != nil {
		return nil, err
	}
	if d.Input != "" {
		predicate, err := query.ParsePredicate(decoded(d.Input))
		if err != nil {
			return nil, err
		}
		read.Where = &predicate
	}
	var found query.Aggregates
	if err := s.reader.Aggregates(ctx, read, &found); err != nil {
		return nil, err
	}
	from := 0
	for i, to := range found.Ends {
		lines = append(lines, read.Granularities[i].String()+":"+row(found.Starts[from:to], found.Values[from:to]))
		from = to
	}
	return lines, nil
}

// evaluate evaluates an operation over the metrics that it names.
func (s *script) evaluate(ctx context.Context, d *datadriven.TestData) (lines []string, err error) {
	operation, err := aggregates.Parse(strings.TrimSpace(d.Input))
	if err != nil {
		return nil, err
	}
	operands := make([]query.Operand, len(operation.References))
	for i, r := range operation.References {
		operands[i] = query.Operand{Metric: s.metrics[r.Name], Reference: i, Aggregation: r.Aggregation}
	}
	read := &query.Read{From: seconds(d, "from", 0), To: seconds(d, "to", carbonara.MaxTimestamp), Rows: rows(d),
		Options: aggregates.Options{NeededOverlap: 100, HasFrom: d.HasArg("from"), HasTo: d.HasArg("to")}}
	if text := argument(d, "granularity", ""); text != "" {
		if read.Granularity, err = time.ParseDuration(text); err != nil {
			return nil, err
		}
	}
	if text := argument(d, "fill", ""); text != "" {
		fill, ok := aggregates.ParseFill(text)
		if !ok {
			return nil, fmt.Errorf("no fill %q", text)
		}
		read.Options.Fill = fill
	}
	groups := [][]query.Operand{operands}
	if d.HasArg("of") {
		groups = groups[:0]
		for _, name := range list(d, "of") {
			operands[0].Metric = s.metrics[name]
			groups = append(groups, slices.Clone(operands))
		}
	}
	results, err := s.reader.EvaluateGroups(ctx, operation, groups, read)
	if err != nil {
		return nil, err
	}
	for _, result := range slices.Concat(results...) {
		for j := range result.Columns() {
			values, err := result.Column(j, nil)
			if err != nil {
				return nil, err
			}
			lines = append(lines, result.Granularity.String()+":"+row(result.Times, values))
		}
	}
	return lines, nil
}

func row(times []carbonara.Timestamp, values []float64) string {
	var b strings.Builder
	for i, t := range times {
		fmt.Fprintf(&b, " %g=%g", float64(t)/1e9, values[i])
	}
	return b.String()
}

func decoded(text string) (value any) {
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	if err := decoder.Decode(&value); err != nil {
		return err.Error()
	}
	return value
}

func argument(d *datadriven.TestData, key, absent string) string {
	for _, a := range d.CmdArgs {
		if a.Key == key {
			return strings.Join(a.Vals, ",")
		}
	}
	return absent
}

func list(d *datadriven.TestData, key string) []string {
	return strings.Split(argument(d, key, ""), ",")
}

func seconds(d *datadriven.TestData, key string, absent carbonara.Timestamp) carbonara.Timestamp {
	v, err := strconv.ParseFloat(argument(d, key, ""), 64)
	if err != nil {
		return absent
	}
	return carbonara.Timestamp(v * 1e9)
}

func rows(d *datadriven.TestData) *query.Rows {
	most, err := strconv.Atoi(argument(d, "rows", ""))
	if err != nil {
		return nil
	}
	return query.NewRows(most)
}
