package bench

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/gnocco-db/gnocco/bench/report"
)

// WideOptions say what Wide asks for.
type WideOptions struct {
	Metrics  int           // 0: 10,000
	Groups   int           // of one minute that each has, and one measure in each; 0: a week of them
	For      time.Duration // how long each question is repeated; 0: 2 s
	Question string        // only questions whose names contain this
	Engines  []string      // values of --gpu, one start on the same folder each; nil: off, auto
	Profiles string        // folder for a CPU profile of each question; "": none
}

// EnsureDefaults fills in what was left zero.
func (o *WideOptions) EnsureDefaults() {
	o.Metrics = cmp.Or(o.Metrics, 10_000)
	o.Groups = cmp.Or(o.Groups, 7*24*60)
	o.For = cmp.Or(o.For, 2*time.Second)
	if o.Engines == nil {
		o.Engines = []string{"off", "auto"}
	}
}

// wideQuestion is a request that reads every metric of the run, or of one of its projects.
type wideQuestion struct {
	name        string
	method      string
	path        string
	body        []byte
	connections int
	job         bool // the answer may be a job's, whose end is awaited
}

// wideQuestions are the questions that a card is for. The last of n groups ends at end.
func (w *workload) wideQuestions(run string) []wideQuestion {
	n := len(w.values[0])
	end := w.time(n)
	window := func(groups int) url.Values {
		return url.Values{"granularity": {"60"}, "start": {w.time(n - min(n, groups)).Format(timestampFormat)},
			"stop": {end.Format(timestampFormat)}}
	}
	aggregate := func(name, operation string, groups, connections int, project string) wideQuestion {
		search := fmt.Sprintf(`{"=":{"user_id":%q}}`, run)
		if project != "" {
			search = fmt.Sprintf(`{"and":[%s,{"=":{"project_id":%q}}]}`, search, project)
		}
		return wideQuestion{name, http.MethodPost, "/v1/aggregates?" + window(groups).Encode(), fmt.Appendf(nil,
			`{"resource_type":"generic","search":%s,"operations":%q}`, search, operation), connections, false}
	}
	correlate := func(groups int) wideQuestion {
		from := window(groups).Get("start")
		return wideQuestion{fmt.Sprintf("correlate/groups=%d", min(n, groups)), http.MethodPost, "/v1/correlations?limit=10",
			fmt.Appendf(nil, `{"resource_type":"generic","search":{"=":{"user_id":%q}},"name":"m","granularity":60,`+
				`"start":%q,"stop":%q,"top":1000}`, run, from, end.Format(timestampFormat)), 1, true}
	}
	quantile := rangeQuery(fmt.Sprintf(`quantile(0.95, m{user_id=%q})`, run),
		&aggregatesQuery{start: w.time(n - min(n, 1440)), end: end})
	return []wideQuestion{
		correlate(n), correlate(2016),
		aggregate("mean", "(aggregate mean (metric m mean))", n, 1, ""),
		aggregate("median", "(aggregate median (metric m mean))", n, 1, ""),
		aggregate("95pct", "(aggregate 95pct (metric m mean))", n, 1, ""),
		aggregate("max-of-daily-95pct", "(aggregate max (resample 95pct 86400 (metric m mean)))", n, 1, ""),
		aggregate("max-of-rolling-mean/part", "(aggregate max (rolling mean 60 (metric m mean)))", n, 1, projectName(1)),
		aggregate("median/part", "(aggregate median (metric m mean))", n, 1, projectName(1)),
		aggregate("median/part", "(aggregate median (metric m mean))", n, 16, projectName(1)),
		{"promql-quantile/day", http.MethodGet, quantile, nil, 1, false},
	}
}

// Wide measures questions that read all values of many metrics, on the cores and on a card. Answers that are equal on
// both have equal checksums in the notes.
func Wide(ctx context.Context, options Options, what WideOptions) error {
	if err := options.prepare(); err != nil {
		return err
	}
	what.EnsureDefaults()
	s, err := options.startFor(ctx, Restarted)
	if err != nil {
		return err
	}
	defer s.close()
	w := newWorkload(options.Seed, meters[:], what.Metrics, what.Groups, time.Minute)
	options.Logger.Info("sending measures", "metrics", what.Metrics, "measures", w.measures())
	run := fmt.Sprintf("bench-%d", time.Now().UnixNano())
	if err := (&gnocchiAggregates{run: run, state: Restarted}).fill(ctx, s, w); err != nil {
		return err
	}
	for _, engine := range what.Engines {
		if s.isChild() {
			if _, err := s.stop(); err != nil {
				return err
			}
			s.options.ServeArgs = append(options.ServeArgs[:len(options.ServeArgs):len(options.ServeArgs)], "--gpu="+engine)
			if what.Profiles != "" {
				s.options.ServeArgs = append(s.options.ServeArgs, "--pprof="+profilesAt)
			}
			if err := s.reopen(ctx); err != nil {
				return err
			}
		}
		for _, q := range w.wideQuestions(run) {
			if strings.Contains(q.name, what.Question) {
				if err := s.askWide(ctx, &what, &q, run, engine); err != nil {
					return fmt.Errorf("bench: %s: %w", q.name, err)
				}
			}
		}
	}
	return nil
}

// profilesAt is where a child serves profiles.
const profilesAt = "127.0.0.1:18099"

// askWide repeats a question, and writes a profile of the server meanwhile.
func (s *server) askWide(ctx context.Context, what *WideOptions, q *wideQuestion, run, engine string) error {
	c := newClient(s.options, s.url, q.connections)
	defer c.close()
	ask := func(ctx context.Context, _ int, answer *bytes.Buffer) error {
		if !q.job {
			return c.do(ctx, q.method, q.path, q.body, http.StatusOK, answer)
		}
		err := c.do(ctx, q.method, q.path, q.body, http.StatusOK, answer)
		if status, ok := err.(*statusError); ok && status.status == http.StatusAccepted {
			return c.awaitJob(ctx, status.body, answer)
		}
		return err
	}
	var first bytes.Buffer
	began := time.Now()
	if err := ask(ctx, 0, &first); err != nil {
		return err
	}
	once := time.Since(began)
	profiled := make(chan error, 1)
	if what.Profiles == "" {
		profiled <- nil
	} else {
		go func() { profiled <- profile(ctx, what, q, engine) }()
	}
	r, err := s.repeat(ctx, c, 1, what.For, ask)
	if err = cmp.Or(err, <-profiled); err != nil {
		return err
	}
	answer := bytes.ReplaceAll(first.Bytes(), []byte(run), []byte("RUN")) // infos of PromQL name the selector
	sum := fnv.New64a()
	_, _ = sum.Write(answer)
	figures := []report.Figure{report.Of(report.Milliseconds(r.p50), "ms-p50"),
		report.Of(float64(r.requests)/r.elapsed.Seconds(), "requests/s"), report.Of(report.Milliseconds(once), "ms-first")}
	if r.cpuKnown {
		figures = append(figures, report.Of(report.Milliseconds(r.cpu), "cpu-ms/request"))
	}
	if err := s.options.Report.Add(fmt.Sprintf("Wide/server=%s/metrics=%d/groups=%d/question=%s/connections=%d/gpu=%s",
		s.name, what.Metrics, what.Groups, q.name, q.connections, engine), r.requests, figures...); err != nil {
		return err
	}
	if q.job {
		return nil
	}
	return s.options.Report.Note("%d bytes, checksum %x", len(answer), sum.Sum64())
}

// awaitJob reads a correlation until it is done.
func (c *client) awaitJob(ctx context.Context, accepted string, answer *bytes.Buffer) error {
	_, rest, _ := strings.Cut(strings.ReplaceAll(accepted, " ", ""), `"id":"`)
	id, _, _ := strings.Cut(rest, `"`)
	for {
		if err := c.do(ctx, http.MethodGet, "/v1/correlations/"+id+"?limit=10", nil, http.StatusOK, answer); err != nil {
			return err
		}
		var job struct{ State, Error string }
		if err := json.Unmarshal(answer.Bytes(), &job); err != nil {
			return err
		}
		switch job.State {
		case "done":
			return nil
		case "failed":
			return fmt.Errorf("a correlation failed: %s", job.Error)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// profile writes a CPU profile of the server while a question is repeated.
func profile(ctx context.Context, what *WideOptions, q *wideQuestion, engine string) error {
	var answer bytes.Buffer
	c := &client{base: "http://" + profilesAt, http: http.DefaultClient}
	path := fmt.Sprintf("/debug/pprof/profile?seconds=%d", max(1, int(what.For/time.Second)))
	if err := c.do(ctx, http.MethodGet, path, nil, http.StatusOK, &answer); err != nil {
		return err
	}
	name := fmt.Sprintf("%s/%s.%d.%s.pprof", what.Profiles, strings.ReplaceAll(q.name, "/", "_"), q.connections, engine)
	return os.WriteFile(name, answer.Bytes(), 0o644)
}
