package bench

import (
	"context"
	"fmt"
	"runtime"
	"time"

	"github.com/gnocco-db/gnocco/bench/report"
)

// IngestOptions say what Ingest sends.
type IngestOptions struct {
	Metrics  int     // series; 0: 10,000
	Measures int     // in all; 0: 3.6 million
	Shapes   []Shape // nil: 10000x1@1, 10000x1@4, 100x60@4
}

// EnsureDefaults fills in what was left zero.
func (o *IngestOptions) EnsureDefaults() {
	if o.Metrics == 0 {
		o.Metrics = 10_000
	}
	if o.Measures == 0 {
		o.Measures = 3_600_000
	}
	if len(o.Shapes) == 0 {
		o.Shapes = []Shape{{10_000, 1, 1}, {10_000, 1, 4}, {100, 60, 4}}
	}
}

// Ingest sends measures as fast as they are taken, and measures until the last 202, until the aggregates are visible
// and, of a child, until it has stopped: then all is in the archives, so this is the honest cost. The restarted child
// must still know everything.
//
// With several connections, requests are taken from one queue in the order of time, so neighbours may overtake each
// other as those of several collectors do.
func Ingest(ctx context.Context, options Options, what IngestOptions) error {
	if err := options.prepare(); err != nil {
		return err
	}
	what.EnsureDefaults()
	for range options.Count {
		for _, shape := range what.Shapes {
			if err := options.ingest(ctx, what, shape); err != nil {
				return fmt.Errorf("bench: ingest %v: %w", shape, err)
			}
		}
	}
	return nil
}

func (o *Options) ingest(ctx context.Context, what IngestOptions, shape Shape) error {
	s, err := o.start(ctx)
	if err != nil {
		return err
	}
	defer s.close()
	c := newClient(o, s.url, setupConnections)
	defer c.close()
	o.Logger.Info("creating metrics", "server", s.name, "metrics", what.Metrics)
	ids, err := c.createMetrics(ctx, what.Metrics)
	if err != nil {
		return err
	}
	w := newWorkload(o.Seed, meters[:], what.Metrics, max(1, what.Measures/what.Metrics), defaultStep)
	bodies := w.bodies(ids, shape, 0, len(w.values[0]))
	o.Logger.Info("sending measures", "server", s.name, "shape", shape.String(), "measures", w.measures(),
		"requests", len(bodies))
	run, err := s.ingest(ctx, w, ids, bodies, shape)
	if err != nil {
		return err
	}
	if err := o.Report.Add("Ingest/server="+s.name+"/"+shape.String(), w.measures(), run...); err != nil {
		return err
	}
	if !o.Floor {
		return nil
	}
	s.close() // what it has left in memory and in the page cache is not the floor's
	return o.withFloor(ctx, func(floor *server) error {
		run, err := floor.ingestFloor(ctx, w, bodies, shape)
		if err != nil {
			return err
		}
		return o.Report.Add("Ingest/server=floor/"+shape.String(), w.measures(), run...)
	})
}

// setupConnections is how many connections create metrics and check answers.
const setupConnections = 8

// ingest sends the bodies and returns the figures.
func (s *server) ingest(ctx context.Context, w *workload, ids []string, bodies [][]byte,
	shape Shape) ([]report.Figure, error) {
	sender, checker := newClient(s.options, s.url, shape.Connections), newClient(s.options, s.url, setupConnections)
	defer sender.close()
	defer checker.close()
	m := newMeter(s)
	runtime.GC()
	before, beforeClient, start := m.read(), ownCPU(), time.Now()
	if err := sender.send(ctx, bodies); err != nil {
		return nil, err
	}
	acked, afterAck, afterAckClient := time.Since(start), m.read(), ownCPU()
	var afterVisible usage
	empty, err := w.awaitVisible(ctx, checker, ids, func() { afterVisible = m.read() })
	if err != nil {
		return nil, err
	}
	if m.err != nil {
		return nil, m.err
	}
	visible := empty.Sub(start)
	if err := w.verify(ctx, checker, ids, checker.methods...); err != nil {
		return nil, err
	}
	n := float64(w.measures())
	figures := []report.Figure{
		report.Of(float64(acked.Nanoseconds())/n, "ns/op"),
		report.Of(n/acked.Seconds(), "measures/s-acked"),
		report.Of(n/visible.Seconds(), "measures/s-visible"),
	}
	perMillion := func(from, to time.Duration) float64 { return (to - from).Seconds() / n * 1e6 }
	if m.known {
		figures = append(figures, report.Of(perMillion(before.cpu, afterAck.cpu), "cpu-s/Mmeasure-acked"),
			report.Of(perMillion(before.cpu, afterVisible.cpu), "cpu-s/Mmeasure-visible"),
			report.Of(float64(afterVisible.rss)/(1<<20), "MiB-rss"))
	}
	total := afterVisible
	if s.isChild() {
		if total, err = s.stop(); err != nil {
			return nil, err
		}
		figures = append(figures, report.Of(perMillion(before.cpu, total.cpu), "cpu-s/Mmeasure-stopped"))
	}
	figures = append(figures, report.Of(perMillion(beforeClient, afterAckClient), "client-cpu-s/Mmeasure"),
		report.Of(float64(totalLength(bodies))/n, "B-sent/measure"))
	if m.known && before.written >= 0 && total.written >= 0 {
		figures = append(figures, report.Of(float64(total.written-before.written)/n, "B-written/measure"))
	}
	if s.isChild() {
		stopped, _, err := s.disk()
		if err != nil {
			return nil, err
		}
		figures = append(figures, report.Of(float64(stopped.allocated)/n, "B-allocated-stopped/measure"))
		reopening := time.Now()
		if err := s.reopen(ctx); err != nil {
			return nil, err
		}
		figures = append(figures, report.Of(time.Since(reopening).Seconds(), "s-reopen"))
		again := newClient(s.options, s.url, setupConnections)
		defer again.close()
		if err := w.verify(ctx, again, ids, again.methods...); err != nil {
			return nil, fmt.Errorf("after a restart: %w", err)
		}
		// Tables obsolete at the first stop are gone by now: this is the final size.
		if _, err := s.stop(); err != nil {
			return nil, err
		}
	}
	if disk, ok, err := s.disk(); err != nil {
		return nil, err
	} else if ok {
		figures = append(figures, report.Of(float64(disk.length)/n, "B-disk/measure"),
			report.Of(float64(disk.allocated)/n, "B-allocated/measure"))
	}
	return figures, nil
}

// ingestFloor sends the bodies to a floor server.
func (s *server) ingestFloor(ctx context.Context, w *workload, bodies [][]byte, shape Shape) ([]report.Figure, error) {
	sender := newClient(s.options, s.url, shape.Connections)
	defer sender.close()
	m := newMeter(s)
	runtime.GC()
	before, beforeClient, start := m.read(), ownCPU(), time.Now()
	if err := sender.send(ctx, bodies); err != nil {
		return nil, err
	}
	acked, after, afterClient := time.Since(start), m.read(), ownCPU()
	if m.err != nil {
		return nil, m.err
	}
	n := float64(w.measures())
	return []report.Figure{
		report.Of(float64(acked.Nanoseconds())/n, "ns/op"),
		report.Of(n/acked.Seconds(), "measures/s-acked"),
		report.Of((after.cpu-before.cpu).Seconds()/n*1e6, "cpu-s/Mmeasure-acked"),
		report.Of((afterClient-beforeClient).Seconds()/n*1e6, "client-cpu-s/Mmeasure"),
	}, nil
}
