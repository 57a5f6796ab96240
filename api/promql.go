package api

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	common "github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	upstream "github.com/prometheus/prometheus/promql"

	"github.com/gnocco-db/gnocco/api/auth"
	"github.com/gnocco-db/gnocco/api/promql"
	"github.com/gnocco-db/gnocco/api/web"
	"github.com/gnocco-db/gnocco/internal/budget"
	"github.com/gnocco-db/gnocco/internal/version"
	"github.com/gnocco-db/gnocco/query/postings"
	evaluation "github.com/gnocco-db/gnocco/query/promql"
)

// promqlHandlers serve Prometheus' HTTP API.
type promqlHandlers struct {
	*api
	engine *evaluation.Engine
	series *postings.Catalog
}

// promqlRequest is a request with its parameters, and who sent it.
type promqlRequest struct {
	*http.Request
	promql.Parameters
	who  *auth.Identity
	sees postings.Sees
}

// promqlHandler answers a request. Its error is a *promql.Error, or one that promql.Failed knows.
type promqlHandler func(r *promqlRequest) (*promql.Answer, error)

const promqlPrefix = "/api/v1"

// routes are a tree beside /v1, which never meets it.
func (a promqlHandlers) routes(at func(method, path string, h http.HandlerFunc)) {
	both := func(path string, h promqlHandler) {
		at("GET", promqlPrefix+path, a.serve(h))
		at("POST", promqlPrefix+path, a.serve(h))
	}
	both("/query", a.query)
	both("/query_range", a.queryRange)
	both("/series", a.listSeries)
	both("/series_count", a.countSeries)
	both("/labels", a.listLabels)
	both("/format_query", a.format)
	both("/parse_query", a.parse)
	both("/query_exemplars", constant([]any{}))
	get := func(path string, h promqlHandler) { at("GET", promqlPrefix+path, a.serve(h)) }
	get("/label/{name}/values", a.listValues)
	get("/metadata", a.metadata)
	get("/rules", constant(map[string]any{"groups": []any{}}))
	get("/alerts", constant(map[string]any{"alerts": []any{}}))
	get("/targets", constant(map[string]any{"activeTargets": []any{}, "droppedTargets": []any{}}))
	get("/status/buildinfo", constant(map[string]string{
		"version": prometheusVersion, "revision": version.Revision(), "branch": "gnocco-" + version.Number,
		"buildUser": "", "buildDate": "", "goVersion": runtime.Version(),
	}))
	get("/status/runtimeinfo", a.runtimeInfo)
	get("/status/tsdb", a.seriesStatus)
}

// prometheusVersion is that of the engine. Clients ask for it to know what they may ask.
const prometheusVersion = "3.15.0"

// constant answers always the same.
func constant(data any) promqlHandler {
	return func(*promqlRequest) (*promql.Answer, error) { return &promql.Answer{Data: data}, nil }
}

// serve serves h to users with valid credentials.
func (a promqlHandlers) serve(h promqlHandler) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		err := a.answer(w, r, h)
		if err == nil {
			return
		}
		failed := promqlError(err)
		if failed.Status >= http.StatusInternalServerError && r.Context().Err() == nil {
			a.LogFailure(r, &web.Error{Status: failed.Status, Err: err}, err)
		}
		failed.Write(w, r)
	}
}

// promqlError gives an error its status and its type.
func promqlError(err error) *promql.Error {
	failed := promql.Failed(err)
	var own *web.Error
	if errors.As(err, &own) && own.Status == http.StatusBadRequest {
		return promql.Bad(errors.New(own.Description()))
	}
	if known := web.AsError(err); failed.Type == promql.Execution {
		switch known.Status {
		case http.StatusServiceUnavailable:
			return &promql.Error{Status: known.Status, Type: promql.Unavailable, Err: errors.New(known.Description())}
		case http.StatusUnprocessableEntity:
			return &promql.Error{Status: known.Status, Type: failed.Type, Err: errors.New(known.Description())}
		}
	}
	return failed
}

// refusalOf returns the form in which a request is refused before its route is known.
func (a *api) refusalOf(r *http.Request) func(http.ResponseWriter, *http.Request, error) {
	route, ok := strings.CutPrefix(strings.TrimPrefix(r.URL.Path, a.Prefix), promqlPrefix)
	if ok && route != "/write" {
		return refusePromQL
	}
	return web.Refuse
}

// refusePromQL is Refuse in Prometheus' form.
func refusePromQL(w http.ResponseWriter, r *http.Request, err error) { promqlError(err).Write(w, r) }

func (a promqlHandlers) answer(w http.ResponseWriter, r *http.Request, h promqlHandler) error {
	who, err := a.Authenticate(w, r)
	if err != nil {
		status := web.AsError(err).Status
		kind := promql.Unauthorized
		if status == http.StatusServiceUnavailable {
			kind = promql.Unavailable
		}
		return &promql.Error{Status: status, Type: kind, Err: errors.New(http.StatusText(status))}
	}
	// A form is read where there is one; some clients put all into the URL and call the body something else.
	r.Body = http.MaxBytesReader(w, r.Body, min(a.MaxBodyBytes, web.MaxDocumentBytes))
	if err := r.ParseForm(); err != nil {
		var tooLarge *http.MaxBytesError
		if errors.As(err, &tooLarge) {
			return &promql.Error{Status: http.StatusRequestEntityTooLarge, Type: promql.BadData,
				Err: fmt.Errorf("a form holds %d bytes at most", tooLarge.Limit)}
		}
		return promql.Bad(fmt.Errorf("the form could not be read: %w", err))
	}
	request := &promqlRequest{r, promql.Parameters(r.Form), who, a.VisibleSeries(who, "get measures")}
	timeout, err := request.Duration("timeout")
	if err != nil {
		return err
	}
	bounded := request.Get("timeout") != "" // be it to no time at all
	if limit := a.Limits.QueryTimeout; limit > 0 && (!bounded || limit < timeout) {
		timeout, bounded = limit, true
	}
	ctx, cancel := context.WithCancel(r.Context())
	if bounded {
		ctx, cancel = context.WithTimeoutCause(r.Context(), timeout, web.ErrQueryTimeout)
	}
	defer cancel()
	release, err := a.AwaitTurn(ctx, who)
	if err != nil {
		return err
	}
	defer release()
	request.Request = r.WithContext(ctx)
	var answer *promql.Answer
	err = a.Patiently(ctx, func() (err error) {
		answer, err = h(request)
		return err
	})
	if err != nil {
		return err
	}
	release() // a client that reads slowly keeps nobody waiting
	return answer.Write(w, r)
}

// parseQuery reads what both kinds of queries have.
func (a promqlHandlers) parseQuery(r *promqlRequest) (q *evaluation.Query, limit int, err error) {
	q = &evaluation.Query{Expr: r.Get("query"), Sees: r.sees, Staleness: web.StalenessOf(r.Context()), Origins: true}
	if q.Lookback, err = r.Duration("lookback_delta"); err != nil {
		return nil, 0, err
	}
	if r.Get("max_source_resolution") != "auto" {
		if q.Granularity, err = r.Duration("max_source_resolution"); err != nil {
			return nil, 0, err
		}
	}
	limit, err = r.Limit("limit")
	return q, limit, err
}

func (a promqlHandlers) query(r *promqlRequest) (*promql.Answer, error) {
	at, err := r.Time("time", a.Now())
	if err != nil {
		return nil, err
	}
	q, limit, err := a.parseQuery(r)
	if err != nil {
		return nil, err
	}
	prepared, err := a.engine.Instant(r.Context(), q, at)
	return r.evaluate(q, prepared, err, limit)
}

func (a promqlHandlers) queryRange(r *promqlRequest) (*promql.Answer, error) {
	start, end, step, err := r.Range()
	if err != nil {
		return nil, err
	}
	q, limit, err := a.parseQuery(r)
	if err != nil {
		return nil, err
	}
	prepared, err := a.engine.Range(r.Context(), q, start, end, step)
	return r.evaluate(q, prepared, err, limit)
}

// evaluate answers a query, or the error of preparing it.
func (r *promqlRequest) evaluate(q *evaluation.Query, prepared upstream.Query, err error,
	limit int) (*promql.Answer, error) {
	ctx := r.Context()
	if err != nil {
		switch {
		case errors.Is(err, evaluation.ErrTooManySteps): // 422, as for too many samples
		case ctx.Err() == nil && !errors.Is(err, budget.ErrExhausted):
			err = promql.Bad(fmt.Errorf(`invalid parameter "query": %w`, err))
		}
		return nil, err
	}
	defer prepared.Close()
	result := prepared.Exec(ctx)
	if result.Err != nil {
		return nil, result.Err
	}
	answer := new(promql.Answer)
	answer.Note(result.Warnings, q.Expr)
	value := result.Value
	switch v := value.(type) {
	case upstream.Vector:
		value = upstream.Vector(promql.Cut(answer, v, limit))
	case upstream.Matrix:
		value = upstream.Matrix(promql.Cut(answer, v, limit))
	}
	// Now: its memory is the engine's again once the query is closed.
	encoded, err := promql.Encoded(value, web.TakeFor(ctx, budget.Answers))
	if err != nil {
		return nil, err
	}
	if r.Get("stats") != "" {
		if encoded, err = encoded.WithStats(prepared.Stats()); err != nil {
			return nil, err
		}
	}
	answer.Data = encoded
	return answer, nil
}

// matchers reads match[], of which each has to ask for something, as Prometheus wants it.
func (a promqlHandlers) matchers(r *promqlRequest) ([][]*labels.Matcher, error) {
	lists, err := a.anyMatchers(r)
	for _, list := range lists {
		if !slices.ContainsFunc(list, func(m *labels.Matcher) bool { return !m.Matches("") }) {
			const fault = `invalid parameter "match[]": match[] must contain at least one non-empty matcher`
			return nil, promql.Bad(errors.New(fault))
		}
	}
	return lists, err
}

// anyMatchers reads match[], where {} is all series.
func (a promqlHandlers) anyMatchers(r *promqlRequest) ([][]*labels.Matcher, error) {
	lists, err := a.engine.Matchers(r.Form["match[]"]...)
	if err != nil {
		return nil, promql.Bad(fmt.Errorf(`invalid parameter "match[]": %w`, err))
	}
	return lists, r.checkTimes()
}

// checkTimes refuses times that are none. Labels are those of now: what a resource was called earlier, its history
// says.
func (r *promqlRequest) checkTimes() error {
	if _, err := r.Time("start", time.Time{}); err != nil {
		return err
	}
	_, err := r.Time("end", time.Time{})
	return err
}

func (a promqlHandlers) listSeries(r *promqlRequest) (*promql.Answer, error) {
	lists, err := a.matchers(r)
	if err != nil {
		return nil, err
	}
	if len(lists) == 0 {
		return nil, promql.Bad(errors.New("no match[] parameter provided"))
	}
	limit, err := r.Limit("limit")
	if err != nil {
		return nil, err
	}
	ids := false
	if text := r.Form.Get("ids"); text != "" {
		if ids, err = strconv.ParseBool(text); err != nil {
			return nil, promql.Bad(fmt.Errorf(`invalid parameter "ids": %q is neither true nor false`, text))
		}
	}
	most := 0
	if limit > 0 {
		most = limit + 1
	}
	found, err := a.series.Labels(r.Context(), r.sees, most, ids, lists...)
	if err != nil {
		return nil, err
	}
	answer := new(promql.Answer)
	answer.Data = web.OrEmpty(promql.Cut(answer, found, limit))
	return answer, nil
}

// countSeries says how many series there are, and how many of them have each value of their labels.
func (a promqlHandlers) countSeries(r *promqlRequest) (*promql.Answer, error) {
	lists, err := a.anyMatchers(r)
	if err != nil {
		return nil, err
	}
	limit, err := r.Limit("limit")
	if err != nil {
		return nil, err
	}
	if limit == 0 {
		limit = 10
	}
	counts, err := a.series.Counts(r.Context(), r.sees, limit, r.Form["label"], lists...)
	if err != nil {
		return nil, err
	}
	return &promql.Answer{Data: counts}, nil
}

// list answers names or values.
func (a promqlHandlers) list(r *promqlRequest, read func(lists [][]*labels.Matcher) ([]string, error)) (
	*promql.Answer, error) {
	lists, err := a.matchers(r)
	if err != nil {
		return nil, err
	}
	limit, err := r.Limit("limit")
	if err != nil {
		return nil, err
	}
	found, err := read(lists)
	if err != nil {
		return nil, err
	}
	answer := new(promql.Answer)
	answer.Data = web.OrEmpty(promql.Cut(answer, found, limit))
	return answer, nil
}

func (a promqlHandlers) listLabels(r *promqlRequest) (*promql.Answer, error) {
	return a.list(r, func(lists [][]*labels.Matcher) ([]string, error) {
		return a.series.Names(r.Context(), r.sees, lists...)
	})
}

func (a promqlHandlers) listValues(r *promqlRequest) (*promql.Answer, error) {
	name := common.UnescapeName(web.Param(r.Request, "name"), common.ValueEncodingEscaping)
	return a.list(r, func(lists [][]*labels.Matcher) ([]string, error) {
		return a.series.Values(r.Context(), r.sees, name, lists...)
	})
}

func (a promqlHandlers) metadata(r *promqlRequest) (*promql.Answer, error) {
	limit, err := r.Limit("limit")
	if err != nil {
		return nil, err
	}
	perMetric, err := r.Limit("limit_per_metric")
	if err != nil {
		return nil, err
	}
	units, err := a.series.Units(r.Context(), r.sees)
	if err != nil {
		return nil, err
	}
	type item struct {
		Type string `json:"type"`
		Help string `json:"help"`
		Unit string `json:"unit"`
	}
	shown := map[string][]item{}
	for name, m := range a.sentMetadata.of(r.who) {
		shown[name] = []item{{m.Kind, m.Help, m.Unit}}
	}
	for name, list := range units {
		if shown[name] != nil {
			continue
		}
		for _, unit := range list {
			shown[name] = append(shown[name], item{"unknown", "", unit})
		}
	}
	if only := r.Get("metric"); only != "" {
		maps.DeleteFunc(shown, func(name string, _ []item) bool { return name != only })
	}
	answer := new(promql.Answer)
	cut := make(map[string][]item, len(shown))
	for _, name := range promql.Cut(answer, slices.Sorted(maps.Keys(shown)), limit) {
		list := shown[name]
		if perMetric > 0 {
			list = list[:min(len(list), perMetric)]
		}
		cut[name] = list
	}
	answer.Data = cut
	return answer, nil
}

func (a promqlHandlers) format(r *promqlRequest) (*promql.Answer, error) {
	text, err := a.engine.Format(r.Get("query"))
	if err != nil {
		return nil, promql.Bad(fmt.Errorf(`invalid parameter "query": %w`, err))
	}
	return &promql.Answer{Data: text}, nil
}

func (a promqlHandlers) parse(r *promqlRequest) (*promql.Answer, error) {
	expr, err := a.engine.Parser().ParseExpr(r.Get("query"))
	if err != nil {
		return nil, promql.Bad(fmt.Errorf(`invalid parameter "query": %w`, err))
	}
	return &promql.Answer{Data: promql.Tree(expr)}, nil
}

// started is when this process began to serve.
var started = time.Now()

func (a promqlHandlers) runtimeInfo(*promqlRequest) (*promql.Answer, error) {
	return &promql.Answer{Data: map[string]any{
		"startTime": started.UTC(), "CWD": "", "reloadConfigSuccess": true, "lastConfigTime": started.UTC(),
		"corruptionCount": 0,
		"goroutineCount":  runtime.NumGoroutine(), "GOMAXPROCS": runtime.GOMAXPROCS(0), "GOMEMLIMIT": 0,
		"GOGC": "", "GODEBUG": "",
		"storageRetention": "by archive policy",
	}}, nil
}

// seriesStatus says which names and labels have the most series, of those that the user sees.
func (a promqlHandlers) seriesStatus(r *promqlRequest) (*promql.Answer, error) {
	limit, err := r.Limit("limit")
	if err != nil {
		return nil, err
	}
	if limit == 0 {
		limit = 10
	}
	s, err := a.series.Statistics(r.Context(), r.sees, limit)
	if err != nil {
		return nil, err
	}
	return &promql.Answer{Data: map[string]any{
		"headStats": map[string]any{"numSeries": s.Series, "numLabelPairs": s.Pairs, "chunkCount": 0,
			"minTime": 0, "maxTime": 0},
		"seriesCountByMetricName":     web.OrEmpty(s.ByName),
		"labelValueCountByLabelName":  web.OrEmpty(s.ValuesByLabel),
		"memoryInBytesByLabelName":    []postings.Count{},
		"seriesCountByLabelValuePair": web.OrEmpty(s.ByPair),
	}}, nil
}
