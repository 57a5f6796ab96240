package activity

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/gnocco-db/gnocco/ingest/exemplars"
)

// Tracker tracks the queries of a process.
type Tracker struct {
	Exemplars *exemplars.Ring // that senders pushed to this process

	since time.Time
	reads reads

	mu      sync.Mutex
	running map[uint64]*Query
	costs   costs
}

// New returns a Tracker without queries, which keeps exemplars in so many bytes.
func New(exemplarBytes int) *Tracker {
	return &Tracker{Exemplars: exemplars.New(exemplarBytes), since: time.Now(), running: make(map[uint64]*Query),
		costs: make(costs)}
}

// Begin tracks a query until End.
func (t *Tracker) Begin(q *Query) {
	q.tracker, q.id, q.began = t, rand.Uint64(), time.Now()
	t.mu.Lock()
	defer t.mu.Unlock()
	t.running[q.id] = q
}

// End adds the query to the costs.
func (t *Tracker) End(q *Query) {
	took := time.Since(q.began)
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.running, q.id)
	cost := Cost{Route: q.Route, Query: q.shownText(), Count: 1, Seconds: took.Seconds(), Metrics: q.Metrics(),
		Groups: q.Groups()}
	if q.ByRule.Load() {
		cost.ByRule, cost.SecondsByRule = 1, cost.Seconds
	}
	t.costs.add(cost)
}

func (q *Query) shownText() string {
	if text := q.text.Load(); text != nil {
		return *text
	}
	return ""
}

// Running is a query that runs.
type Running struct {
	ID      string    `json:"id"`
	User    string    `json:"user"`
	Project string    `json:"project"`
	Route   string    `json:"route"`
	Query   string    `json:"query"`
	Started time.Time `json:"started_at"`
	Seconds float64   `json:"seconds"`
	Waiting bool      `json:"waiting"` // for its turn
	Metrics int64     `json:"metrics_read"`
	Groups  int64     `json:"groups_read"`
}

// Request asks a process for its activity.
type Request struct {
	Kill  string `json:"kill,omitempty"`  // ID of a query that ends
	By    string `json:"by,omitempty"`    // user who kills it
	Costs bool   `json:"costs,omitempty"` // report costs
	Reads bool   `json:"reads,omitempty"` // report which metrics were read

	Exemplars *exemplars.Span `json:"exemplars,omitempty"` // report those of this time
}

// Report is the activity of a process, or of several.
type Report struct {
	Since   time.Time `json:"since"` // of costs and reads
	Running []Running `json:"running"`
	Costs   []Cost    `json:"costs,omitempty"`
	Reads   Reads     `json:"reads,omitempty"`

	Exemplars []exemplars.Exemplar `json:"exemplars,omitempty"`
}

// Answer returns the activity, the longest query first, and ends the query that request names. A nil Tracker has none.
func (t *Tracker) Answer(request Request) *Report {
	if t == nil {
		return &Report{Since: time.Now()}
	}
	report := &Report{Since: t.since}
	if request.Reads {
		report.Reads = t.reads.copy()
	}
	if request.Exemplars != nil {
		report.Exemplars = t.Exemplars.Within(*request.Exemplars)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, q := range t.running {
		shown := Running{ID: fmt.Sprintf("%016x", q.id), User: q.User, Project: q.Project, Route: q.Route,
			Query: q.shownText(), Started: q.began, Seconds: time.Since(q.began).Seconds(), Waiting: q.waiting.Load(),
			Metrics: q.Metrics(), Groups: q.Groups()}
		if shown.ID == request.Kill {
			q.Kill(request.By)
		}
		report.Running = append(report.Running, shown)
	}
	if request.Costs {
		for _, c := range t.costs {
			report.Costs = append(report.Costs, *c)
		}
	}
	report.sort()
	return report
}

func (r *Report) sort() {
	slices.SortFunc(r.Running, func(a, b Running) int { return a.Started.Compare(b.Started) })
}

// Merge adds another process's report. Since becomes the later one: before it, not all is known.
func (r *Report) Merge(other *Report) {
	if other.Since.After(r.Since) {
		r.Since = other.Since
	}
	r.Running = append(r.Running, other.Running...)
	r.sort()
	all := make(costs, len(r.Costs))
	for _, list := range [][]Cost{r.Costs, other.Costs} {
		for i := range list {
			all.sum(&list[i])
		}
	}
	r.Costs = r.Costs[:0]
	for _, c := range all {
		r.Costs = append(r.Costs, *c)
	}
	r.Reads.merge(other.Reads)
	r.Exemplars = append(r.Exemplars, other.Exemplars...)
}

// mostCosts is how many rows the table of costs has.
const mostCosts = 256

// Cost is what all queries with the same text have cost since the process began.
type Cost struct {
	Route   string  `json:"route"`
	Query   string  `json:"query"`
	Count   int64   `json:"count"`
	Seconds float64 `json:"seconds"` // from the request to the end of its answer, waiting included
	// Over is how far Seconds may be above the truth: the query was not counted while others had its row.
	Over    float64 `json:"over"`
	Metrics int64   `json:"metrics_read"`
	Groups  int64   `json:"groups_read"`
	// ByRule is how many of Count read results of recording rules, in SecondsByRule of Seconds.
	ByRule        int64   `json:"by_rule"`
	SecondsByRule float64 `json:"seconds_by_rule"`
}

type costKey struct{ route, query string }

// costs are the rows of a space-saving sketch by seconds. A query without a row takes that of the cheapest one, and
// starts with the seconds of it. So a query that took more than 1/256 of all seconds always has a row.
type costs map[costKey]*Cost

func (c costs) add(one Cost) {
	key := costKey{one.Route, one.Query}
	if c[key] == nil && len(c) >= mostCosts {
		var least *Cost
		for _, row := range c {
			if least == nil || row.Seconds < least.Seconds {
				least = row
			}
		}
		delete(c, costKey{least.Route, least.Query})
		one.Over = least.Seconds
		one.Seconds += least.Seconds
	}
	c.sum(&one)
}

// sum adds a row without a bound.
func (c costs) sum(one *Cost) {
	row := c[costKey{one.Route, one.Query}]
	if row == nil {
		row = &Cost{Route: one.Route, Query: one.Query}
		c[costKey{one.Route, one.Query}] = row
	}
	row.Count += one.Count
	row.Seconds += one.Seconds
	row.Over += one.Over
	row.Metrics += one.Metrics
	row.Groups += one.Groups
	row.ByRule += one.ByRule
	row.SecondsByRule += one.SecondsByRule
}
