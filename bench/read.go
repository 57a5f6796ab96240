package bench

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/gnocco-db/gnocco/bench/report"
)

// ReadOptions say what Read asks for.
type ReadOptions struct {
	Metrics     int           // asked in turn; 0: 10
	Days        int           // of measures; 0: 30
	Step        time.Duration // between two measures of a metric; 0: 10 s
	Connections int           // 0: 4
	For         time.Duration // how long each query is repeated; 0: 3 s
	States      []State       // that a child is brought into; nil: Restarted
}

// EnsureDefaults fills in what was left zero.
func (o *ReadOptions) EnsureDefaults() {
	if o.Metrics == 0 {
		o.Metrics = 10
	}
	if o.Days == 0 {
		o.Days = 30
	}
	if o.Step == 0 {
		o.Step = defaultStep
	}
	if o.Connections == 0 {
		o.Connections = 4
	}
	if o.For == 0 {
		o.For = 3 * time.Second
	}
}

// query is one kind of read: the last groups of one metric, mean.
type query struct {
	granularity time.Duration
	span        time.Duration // before the end of the data
}

func (q query) String() string {
	return fmt.Sprintf("groups=%d/granularity=%v", q.span/q.granularity, q.granularity.Seconds())
}

// Read measures queries for one aggregation of one metric, the answers being checked byte by byte, and the same bytes
// from a server that has them in memory. A child is asked in each of the states.
func Read(ctx context.Context, options Options, what ReadOptions) error {
	if err := options.prepare(); err != nil {
		return err
	}
	what.EnsureDefaults()
	for range options.Count {
		for _, state := range options.statesOf(what.States) {
			if err := options.read(ctx, what, state); err != nil {
				return fmt.Errorf("bench: read: %w", err)
			}
		}
	}
	return nil
}

func (o *Options) read(ctx context.Context, what ReadOptions, state State) error {
	s, err := o.startFor(ctx, state)
	if err != nil {
		return err
	}
	defer s.close()
	perDay := int(24 * time.Hour / what.Step)
	w := newWorkload(o.Seed, meters[:], what.Metrics, what.Days*perDay, what.Step)
	o.Logger.Info("sending measures", "server", s.name, "metrics", what.Metrics, "measures", w.measures())
	ids, err := s.send(ctx, w, state)
	if err != nil {
		return err
	}
	if err := s.enter(ctx, state); err != nil {
		return err
	}
	end := w.time(len(w.values[0]))
	queries := []query{{time.Minute, time.Hour}, {time.Minute, 24 * time.Hour},
		{time.Hour, time.Duration(what.Days) * 24 * time.Hour}}
	answers := make([]map[string][]byte, len(queries))
	c := newClient(o, s.url, setupConnections)
	defer c.close()
	for i, q := range queries {
		if answers[i], err = w.answers(ctx, c, ids, q, end); err != nil {
			return err
		}
	}
	figures := make([]reading, len(queries))
	readAll := func(others time.Duration) error {
		for i, q := range queries {
			o.Logger.Info("reading", "server", s.name, "state", state, "query", q.String())
			if figures[i], err = s.read(ctx, what, answers[i]); err != nil {
				return err
			}
			figures[i].without(others)
		}
		return nil
	}
	if state == Loaded {
		err = s.beside(ctx, w, ids, what.For, readAll)
	} else {
		err = readAll(0)
	}
	if err != nil {
		return err
	}
	if !o.Floor || state != Restarted {
		return o.reportReads(s, state, what, queries, figures, nil)
	}
	return o.withFloor(ctx, func(floor *server) error {
		c := newClient(o, floor.url, 1)
		defer c.close()
		floors := make([]reading, len(queries))
		for i := range queries {
			for path, body := range answers[i] {
				if err := c.do(ctx, http.MethodPut, path, body, http.StatusNoContent, nil); err != nil {
					return err
				}
			}
			if floors[i], err = floor.read(ctx, what, answers[i]); err != nil {
				return err
			}
		}
		if err := o.reportReads(s, state, what, queries, figures, floors); err != nil {
			return err
		}
		return o.reportReads(floor, state, what, queries, floors, nil)
	})
}

// send makes metrics, sends the workload, a day of several metrics a request, and waits until it is visible.
func (s *server) send(ctx context.Context, w *workload, state State) ([]string, error) {
	c := newClient(s.options, s.url, setupConnections)
	defer c.close()
	ids, err := c.createMetrics(ctx, len(w.values))
	if err != nil {
		return nil, err
	}
	if err := s.sendParts(ctx, w, ids, int(24*time.Hour/w.step), state); err != nil {
		return nil, err
	}
	_, err = w.awaitVisible(ctx, c, ids, func() {})
	return ids, err
}

// answers asks for the query of every metric once, checks the answers, and returns them by path.
func (w *workload) answers(ctx context.Context, c *client, ids []string, q query,
	end time.Time) (map[string][]byte, error) {
	answers := make(map[string][]byte, len(ids))
	start := end.Add(-q.span)
	for s, id := range ids {
		path := measuresPath(id, "mean", q.granularity, start) + "&stop=" + url.QueryEscape(end.Format(timestampFormat))
		var answer bytes.Buffer
		if err := c.do(ctx, http.MethodGet, path, nil, http.StatusOK, &answer); err != nil {
			return nil, err
		}
		rows, err := parseRows(path, answer.Bytes())
		if err != nil {
			return nil, err
		}
		groups := w.expect(w.values[s], q.granularity)
		first := slices.IndexFunc(groups, func(g expectedGroup) bool { return !g.start.Before(start) })
		if err := compare(groups[max(first, 0):], "mean", q.granularity, rows); err != nil {
			return nil, fmt.Errorf("GET %s: %w", path, err)
		}
		answers[path] = answer.Bytes()
	}
	return answers, nil
}

// reading is the result of repeating one query.
type reading struct {
	requests  int
	elapsed   time.Duration
	p50, p99  time.Duration
	cpu       time.Duration // of the server, per request
	client    time.Duration // CPU of this program, per request
	bytes     int           // of one answer, the mean over metrics
	cpuKnown  bool
	latencies []time.Duration
}

// without takes off the CPU that went into something else, each second.
func (r *reading) without(others time.Duration) {
	r.cpu -= time.Duration(float64(others) * r.elapsed.Seconds() / float64(r.requests))
}

// read repeats the requests in turn on all connections.
func (s *server) read(ctx context.Context, what ReadOptions, answers map[string][]byte) (reading, error) {
	c := newClient(s.options, s.url, what.Connections)
	defer c.close()
	var paths []string
	var r reading
	for path, answer := range answers {
		paths = append(paths, path)
		r.bytes += len(answer)
	}
	r.bytes /= len(answers)
	slices.Sort(paths)
	one := func(ctx context.Context, i int, answer *bytes.Buffer) error {
		path := paths[i%len(paths)]
		if err := c.do(ctx, http.MethodGet, path, nil, http.StatusOK, answer); err != nil {
			return err
		}
		if !bytes.Equal(answer.Bytes(), answers[path]) {
			return fmt.Errorf("GET %s: the answer has changed", path)
		}
		return nil
	}
	answered, err := s.repeat(ctx, c, len(paths), what.For, one)
	answered.bytes = r.bytes
	return answered, err
}

// repeat calls one, which sends the i-th request and judges its answer, on all of c's connections for that long. There
// are so many different requests: each is sent twice before the clock starts.
func (s *server) repeat(ctx context.Context, c *client, different int, long time.Duration,
	one func(ctx context.Context, i int, answer *bytes.Buffer) error) (reading, error) {
	var r reading
	if err := c.spread(ctx, 2*max(different, c.connections), one); err != nil { // connections and caches warm
		return r, err
	}
	m := newMeter(s)
	runtime.GC()
	var mu sync.Mutex
	before, beforeClient, start := m.read(), ownCPU(), time.Now()
	errEnough := fmt.Errorf("enough")
	err := c.spread(ctx, 1<<30, func(ctx context.Context, i int, answer *bytes.Buffer) error {
		from := time.Now()
		if from.Sub(start) > long {
			return errEnough
		}
		// A request under way when the time is over is finished, and counts.
		if err := one(context.WithoutCancel(ctx), i, answer); err != nil {
			return err
		}
		latency := time.Since(from)
		mu.Lock()
		r.latencies = append(r.latencies, latency)
		mu.Unlock()
		return nil
	})
	if err != errEnough {
		return r, err
	}
	r.elapsed = time.Since(start)
	after, afterClient := m.read(), ownCPU()
	if m.err != nil {
		return r, m.err
	}
	r.requests = len(r.latencies)
	r.p50, r.p99 = report.Quantile(r.latencies, 0.5), report.Quantile(r.latencies, 0.99)
	r.client = (afterClient - beforeClient) / time.Duration(r.requests)
	r.cpuKnown = m.known
	if m.known {
		r.cpu = (after.cpu - before.cpu) / time.Duration(r.requests)
	}
	return r, nil
}

// reportReads writes one line a query; floors may be nil.
func (o *Options) reportReads(s *server, state State, what ReadOptions, queries []query, readings,
	floors []reading) error {
	for i, q := range queries {
		r := readings[i]
		figures := []report.Figure{
			report.Of(float64(r.elapsed.Nanoseconds())/float64(r.requests), "ns/op"),
			report.Of(report.Milliseconds(r.p50), "ms-p50"),
			report.Of(report.Milliseconds(r.p99), "ms-p99"),
			report.Of(float64(r.requests)/r.elapsed.Seconds(), "requests/s"),
		}
		if r.cpuKnown {
			figures = append(figures, report.Of(report.Milliseconds(r.cpu), "cpu-ms/request"))
		}
		figures = append(figures, report.Of(report.Milliseconds(r.client), "client-cpu-ms/request"),
			report.Of(float64(r.bytes), "B/answer"))
		if floors != nil {
			figures = append(figures, report.Of(float64(r.p50)/float64(floors[i].p50), "x-floor-p50"))
			if r.cpuKnown && floors[i].cpu > 0 {
				figures = append(figures, report.Of(float64(r.cpu)/float64(floors[i].cpu), "x-floor-cpu"))
			}
		}
		name := fmt.Sprintf("Read/server=%s%s/%v/connections=%d", s.name, state.suffix(), q, what.Connections)
		if err := o.Report.Add(name, r.requests, figures...); err != nil {
			return err
		}
	}
	return nil
}
