package bench

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/klauspost/compress/s2"

	"github.com/gnocco-db/gnocco/bench/report"
)

// CoresOptions say how many cores servers get, and what they are asked. Series is the size of the fleet, 0: 10,000.
type CoresOptions struct {
	SeriesOptions
	Cores []int         // each server is started once with so many; nil: 1, 8, 16
	Idle  int           // further series with one measure, which nobody asks for; 0: 200,000
	For   time.Duration // how long each query is repeated; 0: 2 s
}

// EnsureDefaults fills in what was left zero.
func (o *CoresOptions) EnsureDefaults() {
	o.Series, o.Connections = cmp.Or(o.Series, 10_000), cmp.Or(o.Connections, 16)
	o.Idle, o.For = cmp.Or(o.Idle, 200_000), cmp.Or(o.For, 2*time.Second)
	if len(o.Cores) == 0 {
		o.Cores = []int{1, 8, 16}
	}
	o.SeriesOptions.EnsureDefaults()
}

// Cores asks servers for the last hour of a fleet in PromQL, one server after the other: each is started on the first
// core, on the first eight, and so on, with all measures in its files.
func Cores(ctx context.Context, options Options, what CoresOptions) error {
	what.EnsureDefaults()
	return eachSeriesServer(ctx, options, what.SeriesOptions, "cores", func(s *fleetServer) error {
		m := &mixed{server: s, now: time.Now().Truncate(mixedStep), MixedOptions: &MixedOptions{
			SeriesOptions: what.SeriesOptions, For: what.For}}
		if err := s.startEmpty(ctx); err != nil {
			return err
		}
		m.writer = newClient(s.fleet.Options, s.child.url, m.Connections)
		defer func() { m.writer.close() }()
		if err := m.fill(ctx); err != nil {
			return err
		}
		if err := m.fillIdle(ctx, what.Idle); err != nil {
			return err
		}
		if err := m.check(ctx); err != nil {
			return err
		}
		for _, n := range what.Cores {
			if _, err := s.child.stop(); err != nil {
				return err
			}
			s.client.close()
			s.cores = fmt.Sprintf("0-%d", n-1)
			if err := s.start(ctx); err != nil {
				return err
			}
			if err := m.measureOn(ctx, n); err != nil {
				return err
			}
		}
		return nil
	})
}

// fillIdle sends one measure of each of n series.
func (m *mixed) fillIdle(ctx context.Context, n int) error {
	const perRequest = 2000
	for from := 0; from < n; from += perRequest {
		var message []byte
		for i := from; i < min(from+perRequest, n); i++ {
			message = appendTimeSeries(message, [][2]string{{"__name__", "idle"}, {"host", strconv.Itoa(i / 10)},
				{"disk", strconv.Itoa(i % 10)}}, m.now.Add(-mixedStep), mixedStep, []float64{float64(i)})
		}
		if err := m.writer.remoteWrite(ctx, s2.EncodeSnappy(nil, message)); err != nil {
			return err
		}
	}
	return nil
}

// measureOn asks a server that was just started on n cores.
func (m *mixed) measureOn(ctx context.Context, n int) error {
	begun := time.Now()
	const first = "/api/v1/query?nocache=1&query=cpu%7Bhost=%227%22%7D"
	if err := m.server.client.do(ctx, http.MethodGet, first, nil, http.StatusOK, nil); err != nil {
		return err
	}
	name := fmt.Sprintf("Cores/cores=%d/server=%s", n, m.server.name)
	figures := []report.Figure{report.Of(report.Milliseconds(time.Since(begun)), "ms-first")}
	for _, q := range m.queries() {
		if !slices.Contains([]string{"mean", "instant"}, q.name) {
			continue
		}
		if _, err := m.ask(ctx, q, 0); err != nil {
			return err
		}
		one, _, cpu, err := m.repeat(ctx, q, 1)
		if err != nil {
			return err
		}
		many, wall, cpuOfMany, err := m.repeat(ctx, q, m.Connections)
		if err != nil {
			return err
		}
		figures = append(figures, report.Of(cpu.Seconds()*1000/float64(len(one)), "cpu-ms-"+q.name),
			report.Of(report.Milliseconds(report.Quantile(one, 0.5)), "ms-p50-"+q.name),
			report.Of(float64(len(many))/wall.Seconds(), "requests/s-"+q.name),
			report.Of(cpuOfMany.Seconds()*1000/float64(len(many)), "cpu-ms-busy-"+q.name))
	}
	return m.server.fleet.Report.Add(name, 1, figures...)
}
