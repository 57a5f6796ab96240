package bench

import (
	"context"
	"fmt"
	"time"

	"github.com/gnocco-db/gnocco/bench/report"
	"github.com/gnocco-db/gnocco/internal/pause"
)

// MemoryOptions say how Memory feeds the server.
type MemoryOptions struct {
	Metrics int           // 0: 100,000
	Rate    int           // measures a second; 0: 10,000
	For     time.Duration // 0: 10 min
	Every   time.Duration // between readings; 0: 10 s
}

// EnsureDefaults fills in what was left zero.
func (o *MemoryOptions) EnsureDefaults() {
	if o.Metrics == 0 {
		o.Metrics = 100_000
	}
	if o.Rate == 0 {
		o.Rate = 10_000
	}
	if o.For == 0 {
		o.For = 10 * time.Minute
	}
	if o.Every == 0 {
		o.Every = 10 * time.Second
	}
}

// Memory feeds many metrics at a fixed rate and reads the resident set at intervals; the slope over the last half tells
// whether it still grows.
func Memory(ctx context.Context, options Options, what MemoryOptions) error {
	if err := options.prepare(); err != nil {
		return err
	}
	what.EnsureDefaults()
	for range options.Count {
		if err := options.memory(ctx, what); err != nil {
			return fmt.Errorf("bench: memory: %w", err)
		}
	}
	return nil
}

func (o *Options) memory(ctx context.Context, what MemoryOptions) error {
	s, err := o.start(ctx)
	if err != nil {
		return err
	}
	defer s.close()
	if _, err := s.usage(); err != nil {
		return err
	}
	c := newClient(o, s.url, setupConnections)
	defer c.close()
	o.Logger.Info("creating metrics", "server", s.name, "metrics", what.Metrics)
	ids, err := c.createMetrics(ctx, what.Metrics)
	if err != nil {
		return err
	}
	// One round is one measure of every metric, in requests of a tenth of a second's share at least.
	perRequest := min(what.Metrics, max(1, what.Rate/10))
	rounds := max(1, int(what.For.Seconds()*float64(what.Rate))/what.Metrics)
	interval := time.Duration(float64(perRequest) / float64(what.Rate) * float64(time.Second))
	w := newWorkload(o.Seed, meters[:], what.Metrics, rounds, defaultStep)
	series := &residentSeries{meter: newMeter(s), report: o.Report, every: what.Every}
	sender := newClient(o, s.url, 1)
	defer sender.close()
	o.Logger.Info("sending measures", "server", s.name, "measures", w.measures(), "rate", what.Rate)
	before := series.meter.read()
	start := time.Now()
	requests := 0
	for round := range rounds {
		for _, body := range w.bodies(ids, Shape{Metrics: perRequest, Measures: 1}, round, round+1) {
			due := start.Add(time.Duration(requests) * interval)
			requests++
			for time.Until(due) > 0 && ctx.Err() == nil {
				_ = pause.For(ctx, min(time.Until(due), series.untilNext(start))) // the loop's condition looks at ctx
				if err := series.read(start, false); err != nil {
					return err
				}
			}
			if err := sender.sendOne(ctx, body); err != nil {
				return err
			}
			if err := series.read(start, false); err != nil {
				return err
			}
		}
	}
	elapsed := time.Since(start)
	if _, err := w.awaitVisible(ctx, c, ids, func() {}); err != nil {
		return err
	}
	if err := series.read(start, true); err != nil {
		return err
	}
	after := series.meter.read()
	if series.meter.err != nil {
		return series.meter.err
	}
	n := float64(w.measures())
	return o.Report.Add(fmt.Sprintf("Memory/server=%s/metrics=%d/rate=%d", s.name, what.Metrics, what.Rate),
		w.measures(), report.Of(float64(elapsed.Nanoseconds())/n, "ns/op"),
		report.Of(series.max()/(1<<20), "MiB-rss-max"),
		report.Of(series.last()/(1<<20), "MiB-rss-last"),
		report.Of(series.last()/float64(what.Metrics), "B-rss/metric"),
		report.Of(series.slope()*3600/(1<<20), "MiB/h-slope"),
		report.Of((after.cpu-before.cpu).Seconds()/n*1e6, "cpu-s/Mmeasure"))
}

// residentSeries is the resident set over time.
type residentSeries struct {
	meter   *meter
	report  *report.Report
	every   time.Duration
	seconds []float64 // since the start
	bytes   []float64
}

// untilNext is how long until a reading is due.
func (r *residentSeries) untilNext(start time.Time) time.Duration {
	return max(time.Millisecond, time.Until(start.Add(time.Duration(len(r.seconds))*r.every)))
}

// read reads if it is due, or if now is set.
func (r *residentSeries) read(start time.Time, now bool) error {
	since := time.Since(start)
	if !now && since < time.Duration(len(r.seconds))*r.every {
		return nil
	}
	u := r.meter.read()
	if r.meter.err != nil {
		return r.meter.err
	}
	r.seconds = append(r.seconds, since.Seconds())
	r.bytes = append(r.bytes, float64(u.rss))
	return r.report.Note("rss %.0f s %.1f MiB", since.Seconds(), float64(u.rss)/(1<<20))
}

func (r *residentSeries) max() float64 {
	m := 0.0
	for _, b := range r.bytes {
		m = max(m, b)
	}
	return m
}

func (r *residentSeries) last() float64 { return r.bytes[len(r.bytes)-1] }

// slope is the growth in bytes per second over the last half of the readings, by least squares.
func (r *residentSeries) slope() float64 {
	half := len(r.seconds) / 2
	return slope(r.seconds[half:], r.bytes[half:])
}

func slope(x, y []float64) float64 {
	n := float64(len(x))
	var sumX, sumY float64
	for i := range x {
		sumX += x[i]
		sumY += y[i]
	}
	var above, below float64
	for i := range x {
		above += (x[i] - sumX/n) * (y[i] - sumY/n)
		below += (x[i] - sumX/n) * (x[i] - sumX/n)
	}
	if below == 0 {
		return 0
	}
	return above / below
}
