package bench

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gnocco-db/gnocco/bench/report"
	"github.com/gnocco-db/gnocco/internal/pause"
)

// FreshnessOptions say how Freshness probes.
type FreshnessOptions struct {
	Probes   int   // 0: 200
	Metrics  int   // of the load beside them; 0: 10,000
	Measures int   // of the load at most; 0: 9 million
	Shape    Shape // of the load; zero: 100x60@3
}

// EnsureDefaults fills in what was left zero.
func (o *FreshnessOptions) EnsureDefaults() {
	if o.Probes == 0 {
		o.Probes = 200
	}
	if o.Metrics == 0 {
		o.Metrics = 10_000
	}
	if o.Measures == 0 {
		o.Measures = 9_000_000
	}
	if o.Shape == (Shape{}) {
		o.Shape = Shape{100, 60, 3}
	}
}

// Freshness measures how long after its 202 a new measure of a known metric shows in a GET without refresh: idle, and
// beside a load at half the rate (until visible) that the server was just seen to reach.
func Freshness(ctx context.Context, options Options, what FreshnessOptions) error {
	if err := options.prepare(); err != nil {
		return err
	}
	what.EnsureDefaults()
	for range options.Count {
		if err := options.freshness(ctx, what); err != nil {
			return fmt.Errorf("bench: freshness: %w", err)
		}
	}
	return nil
}

func (o *Options) freshness(ctx context.Context, what FreshnessOptions) error {
	s, err := o.start(ctx)
	if err != nil {
		return err
	}
	defer s.close()
	c := newClient(o, s.url, setupConnections)
	defer c.close()
	p, err := newProber(ctx, o, c, s)
	if err != nil {
		return err
	}
	defer p.client.close()

	o.Logger.Info("probing", "server", s.name, "load", "none", "probes", what.Probes)
	idle, err := p.run(ctx, what.Probes, nil)
	if err != nil {
		return err
	}
	if err := o.Report.Add("Freshness/server="+s.name+"/load=none", idle.n(), idle.figures()...); err != nil {
		return err
	}

	ids, err := c.createMetrics(ctx, what.Metrics)
	if err != nil {
		return err
	}
	// A whole number of requests a series, the first sixth of them to measure the rate.
	rounds := max(2, what.Measures/what.Metrics/what.Shape.Measures)
	burst := max(1, rounds/6) * what.Shape.Measures
	w := newWorkload(o.Seed, meters[:], what.Metrics, rounds*what.Shape.Measures, defaultStep)
	first := w.prefix(burst)
	sender := newClient(o, s.url, what.Shape.Connections)
	defer sender.close()
	bodies := first.bodies(ids, what.Shape, 0, burst)
	start := time.Now()
	if err := sender.send(ctx, bodies); err != nil {
		return err
	}
	visible, err := first.awaitVisible(ctx, c, ids, func() {})
	if err != nil {
		return err
	}
	rate := float64(first.measures()) / visible.Sub(start).Seconds()

	load := &pacedLoad{
		bodies:   w.bodies(ids, what.Shape, burst, len(w.values[0])),
		perRound: (what.Metrics + what.Shape.Metrics - 1) / what.Shape.Metrics,
	}
	perBody := float64(w.measures()-first.measures()) / float64(len(load.bodies))
	load.interval = time.Duration(perBody / (rate / 2) * float64(time.Second))
	o.Logger.Info("probing", "server", s.name, "load", int(rate/2), "probes", what.Probes)
	loaded, loadErr := freshnessResult{}, error(nil)
	var workers sync.WaitGroup
	begun := time.Now()
	workers.Go(func() { loadErr = load.run(ctx, sender) })
	loaded, err = p.run(ctx, what.Probes, load.over.Load)
	load.stop.Store(true)
	workers.Wait()
	lasted := time.Since(begun)
	if err != nil {
		return err
	}
	if loadErr != nil {
		return loadErr
	}
	sent := w.prefix(burst + load.sent/load.perRound*what.Shape.Measures)
	if _, err := sent.awaitVisible(ctx, c, ids, func() {}); err != nil {
		return err
	}
	reached := float64(sent.measures()-first.measures()) / lasted.Seconds()
	return o.Report.Add("Freshness/server="+s.name+"/load=half", loaded.n(),
		append(loaded.figures(), report.Of(reached, "measures/s-load"), report.Of(rate/2, "measures/s-load-wanted"))...)
}

// pacedLoad sends requests at fixed intervals until it is told to stop, then to the end of the round: a round has one
// request for every metric.
type pacedLoad struct {
	bodies   [][]byte
	perRound int
	interval time.Duration
	stop     atomic.Bool
	over     atomic.Bool // all is sent
	sent     int         // valid once run has returned

	mu   sync.Mutex
	next int
}

// pop returns the number of the next request; ok is false at the end.
func (l *pacedLoad) pop() (i int, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.next == len(l.bodies) || l.stop.Load() && l.next%l.perRound == 0 {
		l.over.Store(true)
		return 0, false
	}
	l.next++
	return l.next - 1, true
}

func (l *pacedLoad) run(ctx context.Context, c *client) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer l.over.Store(true)
	start := time.Now()
	var workers sync.WaitGroup
	for range c.connections {
		workers.Go(func() {
			for ctx.Err() == nil {
				i, ok := l.pop()
				if !ok {
					return
				}
				_ = pause.For(ctx, time.Until(start.Add(time.Duration(i)*l.interval))) // what comes next looks at ctx
				if err := c.sendOne(ctx, l.bodies[i]); err != nil {
					cancel(err)
				}
			}
		})
	}
	workers.Wait()
	l.sent = l.next
	return context.Cause(ctx)
}

// prober sends single measures to metrics of its own, each to a group of its own, so that its aggregate is known.
type prober struct {
	client *client // one connection
	ids    []string
	next   int // probe
}

const probeMetrics = 20

// newProber makes the metrics and gives each a first measure.
func newProber(ctx context.Context, o *Options, c *client, s *server) (*prober, error) {
	ids, err := c.createMetrics(ctx, probeMetrics)
	if err != nil {
		return nil, err
	}
	p := &prober{client: newClient(o, s.url, 1), ids: ids}
	_, err = p.run(ctx, probeMetrics, nil)
	return p, err
}

// freshnessResult holds what probes lasted.
type freshnessResult struct {
	acks, visible []time.Duration
	first         int // probes whose first GET showed the measure
}

func (r *freshnessResult) n() int { return len(r.visible) }

func (r *freshnessResult) figures() []report.Figure {
	total := time.Duration(0)
	for _, v := range r.visible {
		total += v
	}
	return []report.Figure{
		report.Of(float64(total.Nanoseconds())/math.Max(1, float64(len(r.visible))), "ns/op"),
		report.Of(report.Milliseconds(report.Quantile(r.visible, 0.5)), "ms-visible-p50"),
		report.Of(report.Milliseconds(report.Quantile(r.visible, 0.99)), "ms-visible-p99"),
		report.Of(report.Milliseconds(report.Quantile(r.acks, 0.5)), "ms-ack-p50"),
		report.Of(report.Milliseconds(report.Quantile(r.acks, 0.99)), "ms-ack-p99"),
		report.Of(100*float64(r.first)/math.Max(1, float64(len(r.visible))), "%-first-GET"),
	}
}

// run makes n probes, fewer if over, which may be nil, says so. Between probes it pauses for a while that has nothing
// to do with the server's own rhythm.
func (p *prober) run(ctx context.Context, n int, over func() bool) (freshnessResult, error) {
	var r freshnessResult
	for range n {
		if over != nil && over() {
			break
		}
		if err := p.probe(ctx, &r); err != nil {
			return r, err
		}
		_ = pause.For(ctx, time.Duration(3+p.next*7%17)*time.Millisecond) // the loop's condition looks at ctx
	}
	return r, ctx.Err()
}

func (p *prober) probe(ctx context.Context, r *freshnessResult) error {
	id, value := p.ids[p.next%len(p.ids)], float64(p.next)+0.5
	at := firstMeasure.Add(time.Duration(p.next/len(p.ids)) * time.Minute)
	p.next++
	body := []byte(`{"` + id + `":[{"timestamp":"` + at.Format(timestampFormat) + `","value":` +
		strconv.FormatFloat(value, 'f', -1, 64) + `}]}`)
	path := measuresPath(id, "sum", time.Minute, at)
	sending := time.Now()
	if err := p.client.sendOne(ctx, body); err != nil {
		return err
	}
	acked := time.Now()
	for tries := 1; ; tries++ {
		rows, err := p.client.measures(ctx, path)
		if err != nil {
			return err
		}
		waited := time.Since(acked)
		if len(rows) == 1 && rows[0].start.Equal(at) && rows[0].value == value {
			r.acks, r.visible = append(r.acks, acked.Sub(sending)), append(r.visible, waited)
			if tries == 1 {
				r.first++
			}
			return nil
		}
		if len(rows) > 0 {
			return fmt.Errorf("GET %s: %v, want %v at %v", path, rows, value, at)
		}
		if waited > probeWait {
			return fmt.Errorf("GET %s: nothing %v after the measure was accepted", path, waited.Round(time.Second))
		}
		if err := pause.For(ctx, min(waited/20, 20*time.Millisecond)); err != nil {
			return err
		}
	}
}

// probeWait is how long a measure may take to show.
const probeWait = 5 * time.Minute
