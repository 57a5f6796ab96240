package bench

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gnocco-db/gnocco/bench/report"
)

// AggregatesOptions say what Aggregates asks for.
type AggregatesOptions struct {
	Metrics     []int         // how many are aggregated; a run for each; nil: 100 and 1,000
	Groups      int           // of one minute that each has, and one measure in each; 0: 1,440
	Connections int           // 0: 1
	For         time.Duration // how long each query is repeated; 0: 3 s
	Protocol    string        // what the server speaks: "gnocchi" or "victoriametrics"; "": gnocchi
	States      []State       // that a child is brought into; nil: Restarted
	// Extra adds questions that Gnocchi cannot answer: by PromQL, and exactly.
	Extra bool
	Query string // only queries whose names contain this
}

// EnsureDefaults fills in what was left zero.
func (o *AggregatesOptions) EnsureDefaults() {
	if o.Metrics == nil {
		o.Metrics = []int{100, 1000}
	}
	if o.Groups == 0 {
		o.Groups = 1440
	}
	if o.Connections == 0 {
		o.Connections = 1
	}
	if o.For == 0 {
		o.For = 3 * time.Second
	}
	if o.Protocol == "" {
		o.Protocol = "gnocchi"
	}
}

// aggregatesProtocol is how a server is fed and asked for aggregates across metrics. Series s of the workload belongs
// to project s % numProjects.
type aggregatesProtocol interface {
	// fill sends the workload and returns once it can be read.
	fill(ctx context.Context, s *server, w *workload) error
	// request is what asks for a query; ok is false if the protocol cannot ask it.
	request(q *aggregatesQuery) (method, path string, body []byte, ok bool)
	// parse reads an answer: rows by project, or by "" if all are aggregated together.
	parse(q *aggregatesQuery, answer []byte) (map[string][]row, error)
}

// numProjects is how many groups the metrics make by an attribute.
const numProjects = 10

func projectName(series int) string { return "p" + strconv.Itoa(series%numProjects) }

// topMetrics is how many of the greatest values a query for them wants.
const topMetrics = 10

// aggregatesQuery is the mean across metrics of their means of a minute, from start to the end, or another method.
type aggregatesQuery struct {
	name      string
	method    string // "": mean
	top       bool   // not an aggregate, but the greatest values of each minute, by PromQL
	start     time.Time
	end       time.Time // exclusive
	byIDs     bool      // metrics are named, not searched
	byProject bool
	exact     bool // the mean of all measures
}

// across returns the method that aggregates.
func (q *aggregatesQuery) across() string { return cmp.Or(q.method, "mean") }

func (w *workload) aggregatesQueries(extra bool) []aggregatesQuery {
	n := len(w.values[0])
	hour, end := w.time(max(0, n-60)), w.time(n)
	last := strconv.Itoa(min(n, 60))
	queries := []aggregatesQuery{
		{name: "mean/groups=" + last + "/find=ids", start: hour, end: end, byIDs: true},
		{name: "mean/groups=" + last + "/find=search", start: hour, end: end},
		{name: "mean-by-project/groups=" + last + "/find=search", start: hour, end: end, byProject: true},
		{name: "max/groups=" + last + "/find=search", start: hour, end: end, method: "max"},
		{name: "top10/groups=" + last + "/find=promql", start: hour, end: end, top: true},
	}
	if n > 60 {
		queries = append(queries,
			aggregatesQuery{name: "mean/groups=" + strconv.Itoa(n) + "/find=search", start: w.start, end: end},
			aggregatesQuery{name: "mean-by-project/groups=" + strconv.Itoa(n) + "/find=search", start: w.start,
				end: end, byProject: true})
	}
	if extra {
		queries = append(queries,
			aggregatesQuery{name: "exact-mean/groups=" + strconv.Itoa(n) + "/find=search", start: w.start,
				end: end, exact: true})
	}
	return queries
}

// expectAcross computes what a query's answer must be, row by row.
func (w *workload) expectAcross(q *aggregatesQuery) map[string][]expectedGroup {
	wanted := map[string][]expectedGroup{}
	for i := range w.values[0] {
		if w.time(i).Before(q.start) {
			continue
		}
		row := map[string]*expectedGroup{}
		for s, values := range w.values {
			project := ""
			if q.byProject {
				project = projectName(s)
			}
			g, ok := row[project]
			if !ok {
				g = &expectedGroup{start: w.time(i), min: values[i], max: values[i]}
				row[project] = g
			}
			g.count++
			g.sum += values[i]
			g.min, g.max = min(g.min, values[i]), max(g.max, values[i])
		}
		for project, g := range row {
			wanted[project] = append(wanted[project], *g)
		}
	}
	return wanted
}

// Aggregates measures queries across many metrics, whose answers are checked number by number the first time and byte
// by byte from then on. A child is asked in each of the states.
func Aggregates(ctx context.Context, options Options, what AggregatesOptions) error {
	if err := options.prepare(); err != nil {
		return err
	}
	what.EnsureDefaults()
	if what.Protocol != "gnocchi" && what.Protocol != "victoriametrics" {
		return fmt.Errorf("bench: protocol %q: want gnocchi or victoriametrics", what.Protocol)
	}
	for range options.Count {
		for _, metrics := range what.Metrics {
			for _, state := range options.statesOf(what.States) {
				if err := options.aggregates(ctx, what, metrics, state); err != nil {
					return fmt.Errorf("bench: aggregates: %w", err)
				}
			}
		}
	}
	return nil
}

func (o *Options) aggregates(ctx context.Context, what AggregatesOptions, metrics int, state State) error {
	s, err := o.startFor(ctx, state)
	if err != nil {
		return err
	}
	defer s.close()
	w := newWorkload(o.Seed, meters[:], metrics, what.Groups, time.Minute)
	o.Logger.Info("sending measures", "server", s.name, "metrics", metrics, "measures", w.measures())
	run := fmt.Sprintf("bench-%d-%d", time.Now().UnixNano(), metrics)
	gnocchi := &gnocchiAggregates{run: run, state: state, ours: what.Extra}
	var protocol aggregatesProtocol = gnocchi
	if what.Protocol == "victoriametrics" {
		protocol = &victoriaAggregates{run: run}
	}
	if err := protocol.fill(ctx, s, w); err != nil {
		return err
	}
	if err := s.enter(ctx, state); err != nil {
		return err
	}
	ask := func(others time.Duration) error { return s.askAggregates(ctx, what, w, protocol, state, others) }
	if state == Loaded {
		return s.beside(ctx, w, gnocchi.ids, what.For, ask)
	}
	return ask(0)
}

// askAggregates repeats every query, and takes off the CPU that others take each second.
func (s *server) askAggregates(ctx context.Context, what AggregatesOptions, w *workload,
	protocol aggregatesProtocol, state State, others time.Duration) error {
	o := s.options
	c := newClient(o, s.url, what.Connections)
	defer c.close()
	for _, q := range w.aggregatesQueries(what.Extra) {
		if !strings.Contains(q.name, what.Query) {
			continue
		}
		method, path, body, ok := protocol.request(&q)
		if !ok {
			continue
		}
		o.Logger.Info("asking", "server", s.name, "query", q.name)
		var first bytes.Buffer
		if err := c.do(ctx, method, path, body, 200, &first); err != nil {
			return err
		}
		rows, err := protocol.parse(&q, first.Bytes())
		if err != nil {
			return err
		}
		if err := w.judge(&q, state, rows); err != nil {
			return fmt.Errorf("%s: %w", q.name, err)
		}
		r, err := s.repeat(ctx, c, 1, what.For, func(ctx context.Context, _ int, answer *bytes.Buffer) error {
			if err := c.do(ctx, method, path, body, 200, answer); err != nil {
				return err
			}
			if what.Protocol == "gnocchi" && !bytes.Equal(answer.Bytes(), first.Bytes()) {
				return fmt.Errorf("%s: the answer has changed", q.name)
			}
			return nil
		})
		if err != nil {
			return err
		}
		r.bytes = first.Len()
		r.without(others)
		if err := o.reportAggregates(s, state, &q, len(w.values), what.Connections, r); err != nil {
			return err
		}
	}
	return nil
}

// judge tells the first difference between an answer and what it must be.
func (w *workload) judge(q *aggregatesQuery, state State, rows map[string][]row) error {
	if q.top {
		return w.judgeTop(q, state, rows[""])
	}
	wanted := w.expectAcross(q)
	if len(rows) != len(wanted) {
		return fmt.Errorf("%d groups of metrics, want %d", len(rows), len(wanted))
	}
	for project, groups := range wanted {
		if err := compare(groups, q.across(), time.Minute, rows[project]); err != nil {
			return fmt.Errorf("project %q: %w", project, err)
		}
	}
	return nil
}

// judgeTop compares the greatest values of each minute, but not their series: some are equal. Once a later measure has
// begun the next day, raw measures of this one are no longer kept, and groups answer: each counts at its end, a minute
// after its measure.
func (w *workload) judgeTop(q *aggregatesQuery, state State, rows []row) error {
	later := 0
	if state == Loaded && q.end.Equal(q.end.Truncate(24*time.Hour)) {
		later = 1
	}
	found := map[int64][]float64{}
	for _, r := range rows {
		found[r.start.Unix()] = append(found[r.start.Unix()], r.value)
	}
	for i := range w.values[0] {
		at := w.time(i)
		if at.Before(q.start) {
			continue
		}
		var wanted []float64
		if i >= later {
			for _, values := range w.values {
				wanted = append(wanted, values[i-later])
			}
		}
		slices.Sort(wanted)
		wanted = wanted[max(0, len(wanted)-topMetrics):]
		got := found[at.Unix()]
		slices.Sort(got)
		if !slices.Equal(got, wanted) {
			return fmt.Errorf("the greatest values at %v are %v, want %v", at, got, wanted)
		}
		delete(found, at.Unix())
	}
	if len(found) > 0 {
		return fmt.Errorf("%d minutes too many", len(found))
	}
	return nil
}

func (o *Options) reportAggregates(s *server, state State, q *aggregatesQuery, metrics,
	connections int, r reading) error {
	figures := []report.Figure{
		report.Of(float64(r.elapsed.Nanoseconds())/float64(r.requests), "ns/op"),
		report.Of(report.Milliseconds(r.p50), "ms-p50"),
		report.Of(report.Milliseconds(r.p99), "ms-p99"),
	}
	if r.cpuKnown {
		figures = append(figures, report.Of(report.Milliseconds(r.cpu), "cpu-ms/request"))
	}
	figures = append(figures, report.Of(report.Milliseconds(r.client), "client-cpu-ms/request"),
		report.Of(float64(r.bytes), "B/answer"))
	if u, err := s.usage(); err == nil {
		figures = append(figures, report.Of(float64(u.rss)/(1<<20), "MiB-rss"))
	}
	name := fmt.Sprintf("Aggregates/server=%s%s/metrics=%d/query=%s/connections=%d", s.name, state.suffix(), metrics,
		q.name, connections)
	return o.Report.Add(name, r.requests, figures...)
}
