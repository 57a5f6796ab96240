// Two minutes of one goroutine tell the race detector nothing that the other tests do not.

//go:build !race

package promql_test

import (
	"context"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	common "github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	upstream "github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/tsdb/chunkenc"

	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/query/promql"
	"github.com/gnocco-db/gnocco/tests/fatal"
	"github.com/gnocco-db/gnocco/tests/promtest"
)

// scriptedEval is a line of an upstream script that evaluates an expression.
var scriptedEval = regexp.MustCompile(`^\s*eval(?:_\w+)? (?:instant (?:at (\S+) )?|range from (\S+) to (\S+) step (\S+) )(.*)$`)

// All expressions of upstream's scripts, over what these load, give the bits of Prometheus' engine.
func TestScriptedExpressionsAreLikeTheEngine(t *testing.T) {
	evaluated, computed := 0, 0
	for _, script := range promtest.ReadScripts(t) {
		n, with := compareScript(t, &script)
		evaluated, computed = evaluated+n, computed+with
	}
	t.Logf("%d evaluations, %d with pipelines", evaluated, computed)
	if evaluated < 2000 || computed < evaluated/3 {
		t.Errorf("%d evaluations, %d with pipelines: fewer than there were", evaluated, computed)
	}
}

// compareScript evaluates the expressions of a script after what it loads.
func compareScript(t *testing.T, script *promtest.Script) (evaluated, computed int) {
	t.Helper()
	s := newStore(t, promtest.Syntax)
	defer s.stop()
	const shift = 30 * 365 * 24 * time.Hour // scripts begin in 1970, and a policy keeps what is before its first block
	s.now = time.Unix(0, 0).Add(2 * shift)
	s.policy("p", []string{"last", "mean", "min", "max", "sum", "count", "std", "first"}, shift)
	s.load(script.Series(t), shift)
	for _, e := range script.Evals {
		line, _, _ := strings.Cut(e.Text, "\n")
		m := scriptedEval.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		ofText := func(text string) time.Time {
			d, err := common.ParseDuration(text)
			if err != nil {
				d = 0
			}
			return time.Unix(0, 0).Add(shift + time.Duration(d))
		}
		run := func(engine *promql.Engine) (*upstream.Result, int) {
			var q upstream.Query
			var err error
			ctx, asked := context.Background(), &promql.Query{Expr: m[5], Lookback: 5 * time.Minute}
			if m[2] == "" {
				q, err = engine.Instant(ctx, asked, ofText(m[1]))
			} else {
				step, _ := common.ParseDuration(m[4])
				q, err = engine.Range(ctx, asked, ofText(m[2]), ofText(m[3]), max(time.Duration(step), time.Second))
			}
			if err != nil {
				return &upstream.Result{Err: err}, 0
			}
			return q.Exec(ctx), promql.Pipelines(q)
		}
		got, pipelines := run(s.engine)
		evaluated++
		if pipelines > 0 {
			computed++
		}
		requireSame(t, line, got, func() *upstream.Result {
			result, _ := run(s.engine.Alone())
			return result
		})
	}
	return evaluated, computed
}

// load stores the series of a script, later by shift.
func (s *store) load(all []promtest.Series, shift time.Duration) {
	s.t.Helper()
	p, err := s.Index.ArchivePolicy("p")
	fatal.If(s.t, err)
	for _, series := range all {
		type measures struct {
			times  []time.Time
			values []float64
		}
		parts := map[string]*measures{} // "": of numbers
		add := func(part string, at int64, v float64) {
			if parts[part] == nil {
				parts[part] = new(measures)
			}
			of := parts[part]
			of.times, of.values = append(of.times, time.UnixMilli(at).Add(shift)), append(of.values, v)
		}
		for _, sample := range series.Samples {
			if sample.Type() == chunkenc.ValFloat {
				add("", sample.T(), sample.F())
				continue
			}
			for part, v := range promtest.Parts(s.t, sample.FH()) {
				add(part, sample.T(), v)
			}
		}
		for part, of := range parts {
			var text []byte
			labels.NewBuilder(series.Labels).Set(model.LabelHistogram, part).Labels().Range(func(l labels.Label) {
				text = model.AppendLabel(text, l.Name, l.Value)
			})
			if len(text) == 0 {
				continue
			}
			m := &model.Metric{ID: uuid.New(), ArchivePolicy: p, Creator: "me", Labels: model.Labels(text)}
			fatal.If(s.t, s.Index.CreateMetrics(s.t.Context(), []*model.Metric{m}))
			s.measures(m.ID, of.times, of.values)
		}
	}
}
