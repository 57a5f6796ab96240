package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/gnocco-db/gnocco/bench/report"
)

// IndexOptions say what Index creates and asks for.
type IndexOptions struct {
	Resources   int // 0: 100,000
	Batch       int // resources in one request; 0: 500; 1: by POST /v1/resource/{type}, which every server has
	Connections int // while creating; 0: 4
	Requests    int // of each question; 0: 200
}

// EnsureDefaults fills in what was left zero.
func (o *IndexOptions) EnsureDefaults() {
	if o.Resources == 0 {
		o.Resources = 100_000
	}
	if o.Batch == 0 {
		o.Batch = 500
	}
	if o.Connections == 0 {
		o.Connections = 4
	}
	if o.Requests == 0 {
		o.Requests = 200
	}
}

// Index measures what is known about metrics: resources of five metrics each are created, listed and searched for. A
// child is restarted before it is asked, so that nothing is warm but what the questions warm.
func Index(ctx context.Context, options Options, what IndexOptions) error {
	if err := options.prepare(); err != nil {
		return err
	}
	what.EnsureDefaults()
	for range options.Count {
		if err := options.index(ctx, what); err != nil {
			return fmt.Errorf("bench: index: %w", err)
		}
	}
	return nil
}

func (o *Options) index(ctx context.Context, what IndexOptions) error {
	s, err := o.start(ctx)
	if err != nil {
		return err
	}
	defer s.close()
	p := newIndexPopulation(o.Seed, what.Resources)
	if err := s.createIndex(ctx, what, p); err != nil {
		return err
	}
	if s.isChild() {
		if _, err := s.stop(); err != nil {
			return err
		}
		if err := s.reopen(ctx); err != nil {
			return err
		}
	}
	c := newClient(o, s.url, 1)
	defer c.close()
	if err := p.readMetrics(ctx, c); err != nil {
		return err
	}
	for _, q := range p.questions() {
		if err := s.ask(ctx, c, what, q); err != nil {
			return err
		}
	}
	return s.reportSize(what)
}

// createIndex creates the population, and reports at what rate and cost.
func (s *server) createIndex(ctx context.Context, what IndexOptions, p *indexPopulation) error {
	o := s.options
	c := newClient(o, s.url, what.Connections)
	defer c.close()
	if err := c.createPolicy(ctx); err != nil {
		return err
	}
	if err := c.do(ctx, http.MethodPost, "/v1/resource_type", p.resourceType(), http.StatusCreated, nil); err != nil {
		return err
	}
	o.Logger.Info("creating", "server", s.name, "resources", what.Resources, "batch", what.Batch)
	m := newMeter(s)
	before, ownBefore, begin := m.read(), ownCPU(), time.Now()
	requests := (what.Resources + what.Batch - 1) / what.Batch
	bodies := sync.Pool{New: func() any { return new(bytes.Buffer) }}
	err := c.spread(ctx, requests, func(ctx context.Context, i int, _ *bytes.Buffer) error {
		body := bodies.Get().(*bytes.Buffer)
		defer bodies.Put(body)
		body.Reset()
		first, last := i*what.Batch, min((i+1)*what.Batch, what.Resources)
		if what.Batch == 1 {
			p.appendResource(body, first)
			return c.do(ctx, http.MethodPost, "/v1/resource/"+indexType, body.Bytes(), http.StatusCreated, nil)
		}
		for n := first; n < last; n++ {
			if n == first {
				body.WriteByte('[')
			} else {
				body.WriteByte(',')
			}
			p.appendResource(body, n)
		}
		body.WriteByte(']')
		return c.do(ctx, http.MethodPost, "/v1/batch/resources/"+indexType, body.Bytes(), http.StatusCreated, nil)
	})
	if err != nil {
		return err
	}
	elapsed, after, own := time.Since(begin), m.read(), ownCPU()-ownBefore
	if m.err != nil {
		return m.err
	}
	n := float64(what.Resources)
	figures := []report.Figure{report.Of(n/elapsed.Seconds(), "resources/s"),
		report.Of(float64(own.Microseconds())/n, "client-cpu-us/resource")}
	if m.known {
		figures = append(figures, report.Of(float64((after.cpu-before.cpu).Microseconds())/n, "cpu-us/resource"),
			report.Of(float64(after.rss)/(1<<20), "MiB-resident"))
		if after.written >= 0 {
			figures = append(figures, report.Of(float64(after.written-before.written)/n, "B-written/resource"))
		}
	}
	return o.Report.Add(s.indexName(what, fmt.Sprintf("create/batch=%d", what.Batch)), what.Resources, figures...)
}

func (s *server) indexName(what IndexOptions, op string) string {
	return fmt.Sprintf("Index/server=%s/resources=%d/op=%s", s.name, what.Resources, op)
}

// question is one kind of request; which of them differs by i.
type question struct {
	name    string
	request func(i int) (method, path string, body []byte)
	rows    func(i int) int // that the answer must have; nil: as many as there are
	slow    bool            // takes so long that a tenth of the requests must do
}

// ask repeats a question on one connection, and reports how long answers take.
func (s *server) ask(ctx context.Context, c *client, what IndexOptions, q question) error {
	n := what.Requests
	if q.slow {
		n = max(n/10, 1)
	}
	m := newMeter(s)
	before := m.read()
	latencies := make([]time.Duration, n)
	rows := 0
	var answer bytes.Buffer
	for i := range latencies {
		method, path, body := q.request(i)
		begin := time.Now()
		if err := c.do(ctx, method, path, body, http.StatusOK, &answer); err != nil {
			return err
		}
		latencies[i] = time.Since(begin)
		var list []json.RawMessage
		if err := json.Unmarshal(answer.Bytes(), &list); err != nil {
			return fmt.Errorf("%s %s: %w", method, path, err)
		}
		if q.rows != nil && len(list) != q.rows(i) {
			return fmt.Errorf("%s %s %s: %d rows, want %d", method, path, body, len(list), q.rows(i))
		}
		rows += len(list)
	}
	after := m.read()
	if m.err != nil {
		return m.err
	}
	figures := []report.Figure{report.Of(report.Milliseconds(report.Quantile(latencies, 0.5)), "p50-ms"),
		report.Of(report.Milliseconds(report.Quantile(latencies, 0.99)), "p99-ms"),
		report.Of(float64(rows)/float64(n), "rows")}
	if m.known {
		figures = append(figures, report.Of(report.Milliseconds(after.cpu-before.cpu)/float64(n), "cpu-ms/request"))
	}
	return s.options.Report.Add(s.indexName(what, q.name), n, figures...)
}

// reportSize reports memory and, as far as the folder is known, the disk.
func (s *server) reportSize(what IndexOptions) error {
	m := newMeter(s)
	u := m.read()
	if m.err != nil {
		return m.err
	}
	var figures []report.Figure
	if m.known {
		figures = append(figures, report.Of(float64(u.rss)/(1<<20), "MiB-resident"))
	}
	disk, ok, err := s.disk()
	if err != nil {
		return err
	}
	if ok {
		figures = append(figures, report.Of(float64(disk.length)/float64(what.Resources), "B-disk/resource"))
	}
	if figures == nil {
		return nil
	}
	return s.options.Report.Add(s.indexName(what, "size"), 1, figures...)
}

// searchPath is a search of the population with a filter as text.
func searchPath(filter string, more string) string {
	return "/v1/search/resource/" + indexType + "?filter=" + url.QueryEscape(filter) + more
}
