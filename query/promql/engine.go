package promql

import (
	"cmp"
	"context"
	"log/slog"
	"math"
	"time"

	"github.com/prometheus/prometheus/model/labels"
	upstream "github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/util/annotations"

	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/query"
	"github.com/gnocco-db/gnocco/query/postings"
	"github.com/gnocco-db/gnocco/query/promql/columns"
)

// Options of an Engine. Archives, Series and Policies have no default.
type Options struct {
	Archives query.Archives
	Series   *postings.Catalog
	Policies func() []*model.ArchivePolicy // all that there are

	MaxSamples int // that a query may hold at once; 0: 4,000,000
	Syntax     parser.Options
	Upstream   bool // Prometheus' engine alone evaluates, and no pipelines of package columns

	Logger *slog.Logger     // nil: none
	Now    func() time.Time // nil: time.Now
}

// EnsureDefaults fills in what is not set.
func (o *Options) EnsureDefaults() {
	o.MaxSamples = cmp.Or(o.MaxSamples, 4_000_000)
	o.Logger = cmp.Or(o.Logger, slog.New(slog.DiscardHandler))
	if o.Now == nil {
		o.Now = time.Now
	}
}

// Engine answers queries. It is for many at once.
type Engine struct {
	options Options
	parser  bounded
	engine  *upstream.Engine
}

// defaultSubqueryStep is Prometheus' own, its default evaluation interval.
const defaultSubqueryStep = time.Minute

// New returns an engine.
func New(o Options) *Engine {
	o.EnsureDefaults()
	installFunctions()
	return &Engine{options: o, parser: o.parser(), engine: upstream.NewEngine(o.engine())}
}

// Over returns an engine that is the same, but for its archives.
func (e *Engine) Over(archives query.Archives) *Engine {
	other := *e
	other.options.Archives = archives
	return &other
}

func (o *Options) parser() bounded { return bounded{Parser: parser.NewParser(o.Syntax)} }

// engine returns the options of Prometheus' engine.
func (o *Options) engine() upstream.EngineOpts {
	return upstream.EngineOpts{
		Logger: o.Logger, MaxSamples: o.MaxSamples,
		Timeout:                  math.MaxInt64, // contexts end queries
		NoStepSubqueryIntervalFn: func(int64) int64 { return defaultSubqueryStep.Milliseconds() },
		EnableAtModifier:         true, EnableNegativeOffset: true,
		Parser: rewriter{o.parser()},
	}
}

// Parser returns what reads expressions as clients write them.
func (e *Engine) Parser() parser.Parser { return e.parser }

// Format returns an expression in Prometheus' layout.
func (e *Engine) Format(text string) (string, error) {
	expr, err := bounded{e.parser.Parser, maxFormatted}.ParseExpr(text)
	if err != nil {
		return "", err
	}
	return expr.Pretty(0), nil
}

// Matchers reads selectors of series, without what says how to read them.
func (e *Engine) Matchers(selectors ...string) ([][]*labels.Matcher, error) {
	lists, err := e.parser.ParseMetricSelectors(selectors)
	if err != nil {
		return nil, err
	}
	for i := range lists {
		if lists[i], err = new(selection).popPseudo(lists[i]); err != nil {
			return nil, err
		}
	}
	return lists, nil
}

// Query is an expression, and who asks.
type Query struct {
	Expr        string
	Sees        postings.Sees    // nil: all
	Staleness   *query.Staleness // how old the answer may be; nil: fresh
	Granularity time.Duration    // the coarsest that serves selectors without __granularity__; 0: rule 3
	Lookback    time.Duration    // after which series end; 0: rule 5
	Repeats     bool             // a range by itself has all measures of a ms, and not the last alone
	Origins     bool             // an info says which granularities answered each selector

	// Recorded returns results of a part of the expression that are there already, nil for none.
	Recorded func(parser.Expr, columns.Times) *Recording
	ByRules  []string // names of the recordings that were read, once it is evaluated
}

// A Recording is results at the times of a query.
type Recording struct {
	Name string
	Read func(context.Context) (upstream.Matrix, annotations.Annotations, error)
}

// Instant prepares a query of one time. The caller closes it once its result is used.
func (e *Engine) Instant(ctx context.Context, q *Query, at time.Time) (upstream.Query, error) {
	s := e.source(q)
	prepared, err := e.engine.NewInstantQuery(ctx, s, s.options(), q.Expr, at)
	return s.charged(ctx, prepared, err)
}

// Range prepares a query of the times from start to end, step by step.
func (e *Engine) Range(ctx context.Context, q *Query, start, end time.Time, step time.Duration) (
	upstream.Query, error) {
	s := e.source(q)
	prepared, err := e.engine.NewRangeQuery(ctx, s, s.options(), q.Expr, start, end, step)
	return s.charged(ctx, prepared, err)
}

// Prometheus returns the options of Prometheus' engine, and what this engine reads a query from, for an engine without
// the pipelines of this one.
func (e *Engine) Prometheus(q *Query) (upstream.EngineOpts, storage.Queryable) {
	return e.options.engine(), e.source(q)
}

const leastLookback = 5 * time.Minute

// source returns what a query reads from. The engine looks back as far as any series goes on after its last sample: the
// series themselves say where they end.
func (e *Engine) source(q *Query) *source {
	longest := leastLookback
	for _, p := range e.options.Policies() {
		if granularities := p.Granularities(); len(granularities) > 0 {
			longest = max(longest, 2*granularities[len(granularities)-1])
		}
	}
	if q.Lookback > 0 {
		longest = q.Lookback
	}
	return &source{engine: e, Query: q, now: e.options.Now(), longest: longest.Milliseconds()}
}

// options returns the engine's options of one query.
func (s *source) options() upstream.QueryOpts {
	return upstream.NewPrometheusQueryOpts(false, time.Duration(s.longest)*time.Millisecond, nil)
}
