package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/internal/counted"
	"github.com/gnocco-db/gnocco/model"
)

// counts is what a pass did.
type counts struct {
	Policies  int `json:"policies"`
	Rules     int `json:"rules"`
	Types     int `json:"types"`
	Resources int `json:"resources"`
	Revisions int `json:"revisions"` // live states and past ones
	Metrics   int `json:"metrics"`

	Written   int `json:"written"`   // metrics whose archives were read and written
	Unchanged int `json:"unchanged"` // metrics that cannot have changed since the pass before
	Resumed   int `json:"resumed"`   // metrics that this pass had written before it was cut short
	Gone      int `json:"gone"`      // metrics deleted at the source meanwhile
	Dropped   int `json:"dropped"`   // archives of metrics that the source does not have any more

	Aggregates   int `json:"aggregates"`
	Measures     int `json:"measures"` // of raw series
	UnknownCount int `json:"unknown_count"`
	UnknownSum   int `json:"unknown_sum"`
	Waiting      int `json:"waiting"` // measures that the source had not processed, copied as such
	Unread       int `json:"unread"`  // splits and raw series that did not decode
	Backlog      int `json:"backlog"`

	Refused []string `json:"refused,omitempty"`
}

func (n *counts) define(d *definitions) {
	n.Policies, n.Rules, n.Types = len(d.policies), len(d.rules), len(d.types)
	n.Resources, n.Revisions, n.Metrics = len(d.resources), d.revisions(), len(d.metrics)
}

// print writes n for people.
func (n *counts) print(w io.Writer) {
	fmt.Fprintf(w, "definitions: %s, %s, %s, %s in %s, %s\n", counted.Of(n.Policies, "archive policy"),
		counted.Of(n.Rules, "rule"), counted.Of(n.Types, "resource type"), counted.Of(n.Resources, "resource"),
		counted.Of(n.Revisions, "state"), counted.Of(n.Metrics, "metric"))
	fmt.Fprintf(w, "archives: %d written (%s, %s), %d unchanged, %d done before, "+
		"%d gone at the source, %d dropped\n",
		n.Written, counted.Of(n.Aggregates, "aggregate"), counted.Of(n.Measures, "raw measure"),
		n.Unchanged, n.Resumed, n.Gone, n.Dropped)
	if n.UnknownCount > 0 {
		fmt.Fprintf(w,
			"inexact: the number of measures is unknown in %s: what is aggregated over several metrics "+
				"or groups weighs them as one measure, or two where there is a std\n", counted.Of(n.UnknownCount, "group"))
	}
	if n.UnknownSum > 0 {
		fmt.Fprintf(w,
			"inexact: the sum is unknown in %s: a std that goes on from them is wrong until the group "+
				"ends\n", counted.Of(n.UnknownSum, "group"))
	}
	if n.Unread > 0 {
		fmt.Fprintf(w, "damaged, and left out: %s of the source\n", counted.Of(n.Unread, "undecodable value"))
	}
	if n.Waiting > 0 {
		fmt.Fprintf(w, "backlog: copied %s that the source had not processed yet, to be processed here\n", counted.Of(n.Waiting, "measure"))
	}
	if n.Backlog > 0 {
		fmt.Fprintf(w, "backlog: %s waited at the source, in no aggregate yet\n", counted.Of(n.Backlog, "measure"))
	}
	const shown = 20
	for _, text := range n.Refused[:min(shown, len(n.Refused))] {
		fmt.Fprintln(w, "refused:", text)
	}
	if len(n.Refused) > 0 {
		fmt.Fprintf(w, "refused: %s in all; with a resource its metrics are missing\n", counted.Of(len(n.Refused), "definition"))
	}
}

// pass copies what a source has, or what has changed since the pass before, into the target.
type pass struct {
	source  source
	target  *target
	workers int
	out     io.Writer // progress

	mu     sync.Mutex
	counts counts
	done   int
	told   time.Time
	begun  time.Time
}

// progressEvery is how often progress is told.
const progressEvery = 5 * time.Second

func (p *pass) run(ctx context.Context) error {
	p.begun, p.told = time.Now(), time.Now()
	var err error
	if p.counts.Backlog, err = p.source.backlog(ctx); err != nil {
		return err
	}
	d, err := p.source.definitions(ctx)
	if err != nil {
		return fmt.Errorf("definitions: %w", err)
	}
	p.counts.define(d)
	// Before the archives: measures processed meanwhile are in both, and count once.
	var waiting map[uuid.UUID]*series
	if c, ok := p.source.(*configSource); ok {
		if waiting, err = c.unprocessed(); err != nil {
			return err
		}
	}
	fmt.Fprintf(p.out, "pass %d: %s in %s, %s\n",
		p.target.state.pass(), counted.Of(p.counts.Resources, "resource"),
		counted.Of(p.counts.Revisions, "state"), counted.Of(p.counts.Metrics, "metric"))
	if p.counts.Refused, err = p.target.putDefinitions(ctx, d); err != nil {
		return fmt.Errorf("definitions: %w", err)
	}
	p.counts.Dropped = p.target.dropOthers(d)
	if err := p.archives(ctx, d.metrics); err != nil {
		return err
	}
	if p.counts.Waiting, err = p.target.putUnprocessed(ctx, waiting); err != nil {
		return err
	}
	p.target.state.Pass.Result = p.counts
	return p.target.finish()
}

// archives copies the archives of metrics.
func (p *pass) archives(ctx context.Context, metrics []*model.Metric) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(p.workers)
	for _, m := range metrics {
		if ctx.Err() != nil {
			break
		}
		group.Go(func() error {
			if err := p.archive(ctx, m); err != nil {
				return fmt.Errorf("metric %s: %w", m.ID, err)
			}
			p.tell(len(metrics))
			return nil
		})
	}
	return errors.Join(group.Wait())
}

func (p *pass) archive(ctx context.Context, m *model.Metric) error {
	state := &p.target.state
	last := p.target.log.pass(m.ID)
	if last == state.pass() {
		p.count(func(n *counts) { n.Resumed++ })
		return nil
	}
	if last > 0 && !p.source.changed(m, state.Passes[last-1].Began) {
		p.count(func(n *counts) { n.Unchanged++ })
		return nil
	}
	since, err := p.target.since(m)
	if err != nil {
		return err
	}
	if _, ok := p.source.(*restSource); !ok {
		since = 0 // cheap, and gives raw series
	}
	a, err := p.source.archive(ctx, m, since)
	if errors.Is(err, errGone) {
		p.count(func(n *counts) { n.Gone++ })
		return nil
	}
	if err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	unknown, err := p.target.put(m, a, since)
	p.count(func(n *counts) {
		n.Written++
		n.Aggregates += a.count()
		if a.raw != nil {
			n.Measures += len(a.raw.timestamps)
		}
		n.UnknownCount += unknown.count
		n.UnknownSum += unknown.sum
		n.Unread += a.unread
	})
	return err
}

func (p *pass) count(f func(*counts)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	f(&p.counts)
}

func (p *pass) tell(all int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done++
	if now := time.Now(); now.Sub(p.told) >= progressEvery {
		p.told = now
		took := now.Sub(p.begun)
		left := time.Duration(float64(took) / float64(p.done) * float64(all-p.done))
		fmt.Fprintf(p.out, "%d of %s, %s, %v, about %v left\n", p.done, counted.Of(all, "metric"),
			counted.Of(p.counts.Aggregates, "aggregate"),
			took.Round(time.Second), left.Round(time.Second))
	}
}

// estimate says what a pass would do, from a sample of metrics, and writes nothing.
func estimate(ctx context.Context, s source, workers int, out io.Writer) error {
	const sampled = 50
	d, err := s.definitions(ctx)
	if err != nil {
		return fmt.Errorf("definitions: %w", err)
	}
	backlog, err := s.backlog(ctx)
	if err != nil {
		return err
	}
	n := counts{Backlog: backlog}
	n.define(d)
	begun, step := time.Now(), max(1, len(d.metrics)/sampled)
	var bytes, taken int
	for i := 0; i < len(d.metrics); i += step {
		m := d.metrics[i]
		a, err := s.archive(ctx, m, 0)
		if errors.Is(err, errGone) {
			continue
		}
		if err != nil {
			return err
		}
		taken++
		n.Written++
		n.Aggregates += a.count()
		for _, g := range m.ArchivePolicy.Granularities() {
			groups, unknown := groupsOf(m.ArchivePolicy, g, a.aggregates[g])
			n.UnknownCount, n.UnknownSum = n.UnknownCount+unknown.count, n.UnknownSum+unknown.sum
			for from := 0; from < groups.Len(); {
				key := carbonara.SplitKeyOf(groups.Starts[from], g)
				to := groups.Search(key.End())
				part := groups.Slice(from, to)
				bytes += len(carbonara.AppendSplit(nil, key, &part))
				from = to
			}
		}
	}
	fmt.Fprintf(out, "of a sample of %s; nothing was written\n", counted.Of(taken, "metric"))
	n.print(out)
	if taken > 0 {
		scale := float64(len(d.metrics)) / float64(taken)
		took := time.Duration(float64(time.Since(begun)) * scale / float64(workers))
		fmt.Fprintf(out, "in all: about %.0f aggregates, %.1f MB of splits, "+
			"%v if the source keeps up with %s at a time\n",
			float64(n.Aggregates)*scale, float64(bytes)*scale/1e6, took.Round(time.Second),
			counted.Of(workers, "request"))
	}
	return nil
}
