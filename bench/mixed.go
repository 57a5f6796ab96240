package bench

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/klauspost/compress/s2"
	"golang.org/x/sync/errgroup"

	"github.com/gnocco-db/gnocco/bench/report"
)

// MixedOptions say what Mixed sends and asks, and whom. Series is the size of the fleet, 0: 10,000.
type MixedOptions struct {
	SeriesOptions
	Days   int           // of the hundred series that are older than an hour; 0: 30
	Writes int           // measures a second into further series; 0: 100,000
	For    time.Duration // how long each query is repeated; 0: 10 s
}

// EnsureDefaults fills in what was left zero.
func (o *MixedOptions) EnsureDefaults() {
	o.Series, o.Connections = cmp.Or(o.Series, 10_000), cmp.Or(o.Connections, 16)
	o.Days, o.Writes, o.For = cmp.Or(o.Days, 30), cmp.Or(o.Writes, 100_000), cmp.Or(o.For, 10*time.Second)
	o.SeriesOptions.EnsureDefaults()
}

// Mixed asks one server after the other in PromQL while measures come in by remote write: each series gets one every
// ten seconds, and further series get many. CPU of requests is that of the server without that of the writes alone.
func Mixed(ctx context.Context, options Options, what MixedOptions) error {
	what.EnsureDefaults()
	return eachSeriesServer(ctx, options, what.SeriesOptions, "mixed", func(s *fleetServer) error {
		m := &mixed{MixedOptions: &what, server: s, now: time.Now().Truncate(mixedStep)}
		return m.run(ctx)
	})
}

// mixed is a run beside one server.
type mixed struct {
	*MixedOptions
	server *fleetServer
	writer *client
	now    time.Time // the measures before are sent first
}

const (
	mixedStep   = 10 * time.Second
	mixedOffset = 3 * time.Second // of measures, so that the edges of ranges have none
	mixedOld    = 100             // series that are older than an hour
	mixedLE     = 12              // buckets of a histogram; there is one for each 25 series
)

// mixedValue is the value of a series' measure.
func mixedValue(series int, at time.Time) float64 {
	return float64((series*7919+int(at.UnixMilli()/100)*104_729)%100_003) / 8
}

// write sends n measures of each series from first up to end (exclusive).
func (m *mixed) write(ctx context.Context, name string, first, end int, at time.Time, step time.Duration, n int) error {
	var message []byte
	values := make([]float64, n)
	for i := first; i < end; i++ {
		for j := range values {
			values[j] = mixedValue(i, at.Add(time.Duration(j)*step))
		}
		message = appendTimeSeries(message, [][2]string{{"__name__", name}, {"host", strconv.Itoa(i)},
			{"project", strconv.Itoa(i % 100)}}, at, step, values)
	}
	return m.writer.remoteWrite(ctx, s2.EncodeSnappy(nil, message))
}

// writeBuckets sends n counts of each bucket of the histograms, which grow by the number of the bucket a second.
func (m *mixed) writeBuckets(ctx context.Context, first, end int, at time.Time, n int) error {
	var message []byte
	values := make([]float64, n)
	for i := first * mixedLE; i < end*mixedLE; i++ {
		for j := range values {
			since := at.Sub(m.now)/time.Second + time.Duration(j)*mixedStep/time.Second + 1e6
			values[j] = float64(int(since) * (i%mixedLE + 1))
		}
		message = appendTimeSeries(message, [][2]string{{"__name__", "bucket"}, {"host", strconv.Itoa(i / mixedLE)},
			{"le", strconv.Itoa(i%mixedLE + 1)}}, at, mixedStep, values)
	}
	return m.writer.remoteWrite(ctx, s2.EncodeSnappy(nil, message))
}

// fill sends what is older than now, in the order of time.
func (m *mixed) fill(ctx context.Context) error {
	hour := m.now.Add(-time.Hour)
	for at := m.now.Add(-time.Duration(m.Days) * 24 * time.Hour); at.Before(hour); at = at.Add(time.Hour) {
		if err := m.write(ctx, "cpu", 0, mixedOld, at.Add(mixedOffset), mixedStep, 360); err != nil {
			return err
		}
	}
	for at := hour; at.Before(m.now); at = at.Add(10 * time.Minute) {
		sending, ctx := errgroup.WithContext(ctx)
		sending.SetLimit(m.Connections)
		send := func(name string, from, to int) {
			sending.Go(func() error { return m.write(ctx, name, from, to, at.Add(mixedOffset), mixedStep, 60) })
		}
		send("cpu", 0, mixedOld)
		for from := 0; from < m.Series; from += 100 {
			send("x", from, min(from+100, m.Series))
		}
		for from := 0; from < m.Series/25; from += 10 {
			sending.Go(func() error {
				return m.writeBuckets(ctx, from, min(from+10, m.Series/25), at.Add(mixedOffset), 60)
			})
		}
		if err := sending.Wait(); err != nil {
			return err
		}
	}
	return nil
}

// live sends measures as their times come, until the context ends.
func (m *mixed) live(ctx context.Context) error {
	next, further := m.now, time.Now().Truncate(time.Second).Add(-time.Second)
	second := time.NewTicker(time.Second) // may come late: no second of further measures is sent twice
	defer second.Stop()
	for {
		for ; time.Since(next) > mixedOffset; next = next.Add(mixedStep) {
			if err := m.write(ctx, "cpu", 0, mixedOld, next.Add(mixedOffset), mixedStep, 1); err != nil {
				return err
			}
			if err := m.writeBuckets(ctx, 0, m.Series/25, next.Add(mixedOffset), 1); err != nil {
				return err
			}
			for from := 0; from < m.Series; from += 2000 {
				to := min(from+2000, m.Series)
				if err := m.write(ctx, "x", from, to, next.Add(mixedOffset), mixedStep, 1); err != nil {
					return err
				}
			}
		}
		for ; time.Since(further) > time.Second; further = further.Add(time.Second) {
			for from := 0; from < m.Writes/10; from += 100 {
				if err := m.write(ctx, "further", from, from+100, further, 100*time.Millisecond, 10); err != nil {
					return err
				}
			}
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-second.C:
		}
	}
}

// mixedQuery is an expression that is asked up to the last whole step. %d is one of the old series.
type mixedQuery struct {
	name, expr   string
	length, step time.Duration
}

func (m *mixed) queries() []mixedQuery {
	return []mixedQuery{
		{"mean", "avg(avg_over_time(x[1m]))", time.Hour, time.Minute},
		{"sum-by", "sum by (project) (avg_over_time(x[1m]))", time.Hour, time.Minute},
		{"top-10", "topk(10, avg_over_time(x[1m]))", time.Hour, time.Minute},
		{"histogram", "histogram_quantile(0.9, sum by (le) (rate(bucket[5m])))", 50 * time.Minute, time.Minute},
		{"instant", "avg(x)", 0, time.Minute},
		{"mean-of-100", "avg(avg_over_time(cpu[1m]))", time.Hour, time.Minute},
		{"day", `avg_over_time(cpu{host="%d"}[1m])`, 24 * time.Hour, time.Minute},
		{"month", `avg_over_time(cpu{host="%d"}[1h])`, time.Duration(m.Days-1) * 24 * time.Hour, time.Hour},
	}
}

// ask asks the i-th time, and checks how many times the answer has.
func (m *mixed) ask(ctx context.Context, q mixedQuery, i int) (matrix [][][2]any, err error) {
	expr := q.expr
	if strings.Contains(expr, "%d") {
		expr = fmt.Sprintf(expr, i%mixedOld)
	}
	end, path := time.Now().Truncate(q.step), "/api/v1/query_range?"
	form := url.Values{"query": {expr}, "start": {strconv.FormatInt(end.Add(q.step-q.length).Unix(), 10)},
		"end": {strconv.FormatInt(end.Unix(), 10)}, "step": {strconv.Itoa(int(q.step.Seconds()))}, "nocache": {"1"}}
	if q.length == 0 {
		path = "/api/v1/query?"
		form.Set("time", form.Get("end"))
	}
	var body bytes.Buffer
	if err := m.server.client.do(ctx, http.MethodGet, path+form.Encode(), nil, http.StatusOK,
		&body); err != nil || i > 0 {
		return nil, err
	}
	var answer struct {
		Data struct {
			Result []struct{ Values [][2]any }
		}
	}
	if err := json.Unmarshal(body.Bytes(), &answer); err != nil {
		return nil, err
	}
	for _, series := range answer.Data.Result {
		matrix = append(matrix, series.Values)
	}
	return matrix, nil
}

// check waits until the answer about the mean is right.
func (m *mixed) check(ctx context.Context) (err error) {
	for begun := time.Now(); time.Since(begun) < wrongWait; time.Sleep(200 * time.Millisecond) {
		var matrix [][][2]any
		if matrix, err = m.ask(ctx, m.queries()[0], 0); err != nil {
			return err
		}
		if len(matrix) != 1 || len(matrix[0]) < 58 {
			err = fmt.Errorf("%d series, not one of an hour", len(matrix))
			continue
		}
		point := matrix[0][30]
		end, sum := time.Unix(int64(point[0].(float64)), 0), 0.0
		for i := range m.Series {
			for j := range 6 {
				sum += mixedValue(i, end.Add(time.Duration(j-6)*mixedStep+mixedOffset))
			}
		}
		want := sum / 6 / float64(m.Series)
		if got, _ := strconv.ParseFloat(fmt.Sprint(point[1]), 64); math.Abs(got-want) < 1e-9*want {
			return nil
		}
		err = fmt.Errorf("the mean at %v is %v, not %v", end, point[1], want)
	}
	return err
}

// repeat asks over so many connections for a while.
func (m *mixed) repeat(ctx context.Context, q mixedQuery, connections int) (took []time.Duration, wall,
	cpu time.Duration, err error) {
	each := make([][]time.Duration, connections)
	wall, cpu, err = m.server.timed(func() error {
		var asking errgroup.Group
		deadline := time.Now().Add(m.For)
		for c := range connections {
			asking.Go(func() error {
				for i := 1 + c; time.Now().Before(deadline); i += connections {
					begun := time.Now()
					if _, err := m.ask(ctx, q, i); err != nil {
						return err
					}
					each[c] = append(each[c], time.Since(begun))
				}
				return nil
			})
		}
		return asking.Wait()
	})
	for _, some := range each {
		took = append(took, some...)
	}
	return took, wall, cpu, err
}

func (m *mixed) run(ctx context.Context) error {
	s := m.server
	if err := s.startEmpty(ctx); err != nil {
		return err
	}
	m.writer = newClient(s.fleet.Options, s.child.url, m.Connections)
	defer m.writer.close()
	if err := m.fill(ctx); err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	live := make(chan error, 1)
	go func() { live <- m.live(ctx) }()
	err := m.measure(ctx)
	stopped := ctx.Err() != nil
	stop()
	if ended := <-live; err == nil && !stopped && !errors.Is(ended, context.Canceled) {
		err = fmt.Errorf("writes: %w", ended)
	}
	return err
}

func (m *mixed) measure(ctx context.Context) error {
	s := m.server
	first := map[string]time.Duration{}
	for _, q := range m.queries() {
		begun := time.Now()
		if _, err := m.ask(ctx, q, 1); err != nil {
			return err
		}
		first[q.name] = time.Since(begun)
	}
	if err := m.check(ctx); err != nil {
		return err
	}
	// The writes come once a second.
	wall, cpu, err := s.timed(func() error { time.Sleep(max(2*m.For, time.Second)); return nil })
	if err != nil {
		return err
	}
	idle := cpu.Seconds() / wall.Seconds() // CPU of the writes, a second
	for _, q := range m.queries() {
		took, wall, cpu, err := m.repeat(ctx, q, 1)
		if err != nil {
			return err
		}
		many, wallOfMany, cpuOfMany, err := m.repeat(ctx, q, m.Connections)
		if err != nil {
			return err
		}
		each := func(cpu, wall time.Duration, n int) float64 {
			return (cpu.Seconds() - idle*wall.Seconds()) * 1000 / float64(n)
		}
		if err := s.fleet.Report.Add("Mixed/query="+q.name+"/server="+s.name, len(took),
			report.Of(each(cpu, wall, len(took)), "cpu-ms/request"),
			report.Of(report.Milliseconds(report.Quantile(took, 0.5)), "ms-p50"),
			report.Of(report.Milliseconds(report.Quantile(took, 0.99)), "ms-p99"),
			report.Of(report.Milliseconds(first[q.name]), "ms-first"),
			report.Of(float64(len(many))/wallOfMany.Seconds(), "requests/s"),
			report.Of(each(cpuOfMany, wallOfMany, len(many)), "cpu-ms/request-busy")); err != nil {
			return err
		}
	}
	return s.fleet.Report.Add("Mixed/writes/server="+s.name, 1, report.Of(1000*idle, "cpu-ms/s"),
		report.Of(float64(s.usage.rss)/(1<<20), "MiB-rss-asked"), report.Of(s.mostRSS/(1<<20), "MiB-rss"))
}
