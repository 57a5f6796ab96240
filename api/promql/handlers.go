package promql

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"net/http"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
	common "github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	upstream "github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/util/stats"

	"github.com/gnocco-db/gnocco/api/auth"
	"github.com/gnocco-db/gnocco/api/web"
	"github.com/gnocco-db/gnocco/ingest/series"
	"github.com/gnocco-db/gnocco/internal/budget"
	"github.com/gnocco-db/gnocco/internal/version"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/query/activity"
	"github.com/gnocco-db/gnocco/query/postings"
	evaluation "github.com/gnocco-db/gnocco/query/promql"
)

// Handlers serve Prometheus' HTTP API.
type Handlers struct {
	*web.Env
	Engine *evaluation.Engine
	Series *postings.Catalog
	// SentMetadata returns what senders of a creator's project said of their series, by name.
	SentMetadata func(creator string) map[string]series.Metadata
	TypeOf       func(*model.Metric) (model.SeriesType, model.TypeSource)
	// Delete deletes the measures of metrics from start to end, both included, for a user. The warning, "" for none,
	// says what went with them.
	Delete func(ctx context.Context, who *auth.Identity, selector string, metrics []uuid.UUID,
		start, end time.Time) (warning string, err error)
	// UseRules lets a query of a user read the results of rules.
	UseRules func(*auth.Identity, *evaluation.Query)
	// ActivityOf asks all processes of the cluster.
	ActivityOf func(context.Context, activity.Request) *activity.Report
}

// request is a request with its parameters, and who sent it.
type request struct {
	*http.Request
	parameters
	who  *auth.Identity
	sees postings.Sees

	// w is where answers that are streams go.
	w       http.ResponseWriter
	release func() // the turn
}

// handler answers a request. Its error is an *Error, or one that Failed knows.
type handler func(r *request) (*Answer, error)

const Prefix = "/api/v1"

// Routes are a tree beside /v1, which never meets it.
func (a Handlers) Routes(at func(method, path string, h http.HandlerFunc)) {
	both := func(path string, h handler) {
		at("GET", Prefix+path, a.serve(h))
		at("POST", Prefix+path, a.serve(h))
	}
	both("/query", a.query)
	both("/query_range", a.queryRange)
	both("/series", a.listSeries)
	both("/series_count", a.countSeries)
	both("/labels", a.listLabels)
	both("/format_query", a.format)
	both("/parse_query", a.parse)
	both("/export", a.export)
	at("GET", "/federate", a.serve(a.federate))
	at("POST", Prefix+"/read", a.remoteRead)
	both("/query_exemplars", a.exemplars)
	at("POST", Prefix+"/admin/tsdb/delete_series", a.serve(a.deleteSeries))
	get := func(path string, h handler) { at("GET", Prefix+path, a.serve(h)) }
	get("/label/{name}/values", a.listValues)
	get("/metadata", a.metadata)
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
func constant(data any) handler {
	return func(*request) (*Answer, error) { return &Answer{Data: data}, nil }
}

// serve serves h to users with valid credentials.
func (a Handlers) serve(h handler) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		err := a.answer(w, r, h)
		if err == nil {
			return
		}
		failed := errorOf(err)
		if failed.Status >= http.StatusInternalServerError && r.Context().Err() == nil {
			a.LogFailure(r, &web.Error{Status: failed.Status, Err: err}, err)
		}
		failed.Write(w)
	}
}

// errorOf gives an error its status and its type.
func errorOf(err error) *Error {
	failed := Failed(err)
	if own, ok := errors.AsType[*web.Error](err); ok && own.Status == http.StatusBadRequest {
		return Bad(errors.New(own.Description()))
	}
	if known := web.AsError(err); failed.Type == Execution {
		switch known.Status {
		case http.StatusServiceUnavailable:
			return &Error{Status: known.Status, Type: Unavailable, Err: errors.New(known.Description())}
		case http.StatusUnprocessableEntity:
			return &Error{Status: known.Status, Type: failed.Type, Err: errors.New(known.Description())}
		}
	}
	return failed
}

// Refuse is web.Refuse in Prometheus' form.
func Refuse(w http.ResponseWriter, _ *http.Request, err error) { errorOf(err).Write(w) }

func (a Handlers) answer(w http.ResponseWriter, r *http.Request, h handler) error {
	who, err := a.Authenticate(w, r)
	if err != nil {
		status := web.AsError(err).Status
		kind := Unauthorized
		if status == http.StatusServiceUnavailable {
			kind = Unavailable
		}
		text := http.StatusText(status)
		if status == http.StatusTooManyRequests {
			kind, text = Unavailable, web.AsError(err).Description()
		}
		return &Error{Status: status, Type: kind, Err: errors.New(text)}
	}
	// A form is read where there is one; some clients put all into the URL and call the body something else.
	if err := a.ParseForm(w, r, min(a.MaxBodyBytes, web.MaxDocumentBytes)); err != nil {
		if tooLarge, ok := errors.AsType[*http.MaxBytesError](err); ok {
			return &Error{Status: http.StatusRequestEntityTooLarge, Type: BadData,
				Err: fmt.Errorf("a form holds %d bytes at most", tooLarge.Limit)}
		}
		if own, ok := errors.AsType[*web.Error](err); ok {
			return &Error{Status: own.Status, Type: BadData, Err: errors.New(own.Description())}
		}
		return Bad(fmt.Errorf("the form could not be read: %w", err))
	}
	request := &request{r, parameters{Values: r.Form}, who, a.VisibleSeries(who, "get measures"), w, nil}
	timeout := request.Duration("timeout")
	if request.fault != nil {
		return request.fault
	}
	bounded := request.Get("timeout") != "" // even if to no time at all
	if limit := a.Limits.QueryTimeout; limit > 0 && (!bounded || limit < timeout) {
		timeout, bounded = limit, true
	}
	if !bounded {
		timeout = math.MaxInt64
	}
	ctx, end := a.BeginQuery(r, who, timeout)
	defer end()
	web.NoteQuery(ctx, strings.Join(append(r.Form["match[]"], r.Form.Get("query")), " "), r.Form.Encode)
	release, err := a.AwaitTurn(ctx, who)
	if err != nil {
		return err
	}
	defer release()
	request.Request, request.release = r.WithContext(ctx), release
	var answer *Answer
	err = a.Patiently(ctx, func() (err error) {
		answer, err = h(request)
		return err
	})
	if err != nil {
		if killed := web.Killed(ctx); killed != nil {
			return &Error{Status: http.StatusServiceUnavailable, Type: Canceled, Err: killed}
		}
		return err
	}
	release() // a client that reads slowly keeps nobody waiting
	return answer.Write(w, r)
}

// parseQuery reads what both kinds of queries have.
func (a Handlers) parseQuery(r *request) (q *evaluation.Query, limit int) {
	q = &evaluation.Query{Expr: r.Get("query"), Sees: r.sees, Staleness: web.StalenessOf(r.Context()), Origins: true,
		Lookback: r.Duration("lookback_delta")}
	if r.Get("max_source_resolution") != "auto" {
		q.Granularity = r.Duration("max_source_resolution")
	}
	a.UseRules(r.who, q)
	return q, r.Limit("limit")
}

func (a Handlers) query(r *request) (*Answer, error) {
	at := r.Time("time", a.Now())
	q, limit := a.parseQuery(r)
	return r.evaluate(q, limit, func() (upstream.Query, error) { return a.Engine.Instant(r.Context(), q, at) })
}

func (a Handlers) queryRange(r *request) (*Answer, error) {
	start, end, step := r.Range()
	q, limit := a.parseQuery(r)
	return r.evaluate(q, limit, func() (upstream.Query, error) {
		return a.Engine.Range(r.Context(), q, start, end, step)
	})
}

// evaluate answers a query.
func (r *request) evaluate(q *evaluation.Query, limit int, prepare func() (upstream.Query, error)) (*Answer, error) {
	if r.fault != nil {
		return nil, r.fault
	}
	ctx := r.Context()
	prepared, err := prepare()
	if err != nil {
		switch {
		case errors.Is(err, evaluation.ErrTooManySteps): // 422, as for too many samples
		case ctx.Err() == nil && !errors.Is(err, budget.ErrExhausted):
			err = invalid("query", err)
		}
		return nil, err
	}
	result := prepared.Exec(ctx)
	if result.Err != nil {
		prepared.Close()
		return nil, result.Err
	}
	activity.Of(ctx).ByRule.Store(len(q.ByRules) > 0)
	answer := new(Answer)
	answer.Note(result.Warnings, q.Expr)
	value := result.Value
	switch v := value.(type) {
	case upstream.Vector:
		value = upstream.Vector(Cut(answer, v, limit))
	case upstream.Matrix:
		value = upstream.Matrix(Cut(answer, v, limit))
	}
	// Until it is closed: its memory is the engine's.
	answer.Hold(value, prepared.Close)
	if r.Get("stats") != "" {
		answer.result.stats, err = json.Marshal(struct {
			stats.BuiltinStats
			Rules []string `json:"rules,omitempty"` // whose results were read
		}{stats.NewQueryStats(prepared.Stats()).Builtin(), q.ByRules})
	}
	return answer, err
}

// matchers reads match[]. Each of them has to ask for something, as in Prometheus, unless {} is all series.
func (a Handlers) matchers(r *request, all bool) [][]*labels.Matcher {
	lists, err := a.Engine.Matchers(r.Form["match[]"]...)
	if err != nil {
		r.refuse(invalid("match[]", err))
	}
	for _, list := range lists {
		if !all && !slices.ContainsFunc(list, func(m *labels.Matcher) bool { return !m.Matches("") }) {
			r.refuse(invalid("match[]", errors.New("match[] must contain at least one non-empty matcher")))
		}
	}
	// Labels are those of now, at any time: a resource's earlier names are in its history.
	_, _ = r.Time("start", time.Time{}), r.Time("end", time.Time{})
	return lists
}

// neededMatchers is matchers for requests that do nothing without.
func (a Handlers) neededMatchers(r *request) [][]*labels.Matcher {
	lists := a.matchers(r, false)
	if len(lists) == 0 {
		r.refuse(Bad(errors.New("no match[] parameter provided")))
	}
	return lists
}

func (a Handlers) listSeries(r *request) (*Answer, error) {
	lists, limit, ids := a.neededMatchers(r), r.Limit("limit"), false
	if text := r.Form.Get("ids"); text != "" {
		var err error
		if ids, err = strconv.ParseBool(text); err != nil {
			r.refuse(invalid("ids", fmt.Errorf("%q is neither true nor false", text)))
		}
	}
	if r.fault != nil {
		return nil, r.fault
	}
	most := 0
	if limit > 0 {
		most = limit + 1
	}
	found, err := a.Series.Labels(r.Context(), r.sees, most, ids, lists...)
	if err != nil {
		return nil, err
	}
	answer := new(Answer)
	found = Cut(answer, found, limit)
	if ids {
		a.describe(found, a.SentMetadata(r.who.User))
	}
	answer.Data = web.OrEmpty(found)
	return answer, nil
}

// describe adds the type of its metric, or the guess, to each series that has its ID, and the unit that senders name.
func (a Handlers) describe(found []labels.Labels, sent map[string]series.Metadata) {
	builder := labels.NewBuilder(labels.EmptyLabels())
	for i, l := range found {
		id, err := uuid.Parse(l.Get("metric_id"))
		if err != nil {
			continue
		}
		builder.Reset(l)
		if metric := a.Index.Lookup(id); metric != nil {
			switch t, source := a.TypeOf(metric); {
			case source.IsGuess():
				builder.Set("metric_type_guess", string(t))
			case source != model.TypeIsUnknown:
				builder.Set("metric_type", string(t))
			}
		}
		if l.Get("metric_unit") == "" {
			builder.Set("metric_unit", sent[l.Get(common.MetricNameLabel)].Unit)
		}
		found[i] = builder.Labels()
	}
}

// countSeries says how many series there are, and how many of them have each value of their labels.
func (a Handlers) countSeries(r *request) (*Answer, error) {
	lists, limit, since := a.matchers(r, true), cmp.Or(r.Limit("limit"), 10), r.Time("since", time.Time{})
	if r.fault != nil {
		return nil, r.fault
	}
	counts, err := a.Series.Counts(r.Context(), r.sees, limit, since, r.Form["label"], lists...)
	if err != nil {
		return nil, err
	}
	return &Answer{Data: counts}, nil
}

// list answers names or values.
func (a Handlers) list(r *request, read func(lists [][]*labels.Matcher) ([]string, error)) (
	*Answer, error) {
	lists, limit := a.matchers(r, false), r.Limit("limit")
	if r.fault != nil {
		return nil, r.fault
	}
	found, err := read(lists)
	if err != nil {
		return nil, err
	}
	answer := new(Answer)
	answer.Data = web.OrEmpty(Cut(answer, found, limit))
	return answer, nil
}

func (a Handlers) listLabels(r *request) (*Answer, error) {
	return a.list(r, func(lists [][]*labels.Matcher) ([]string, error) {
		return a.Series.Names(r.Context(), r.sees, lists...)
	})
}

func (a Handlers) listValues(r *request) (*Answer, error) {
	name := common.UnescapeName(web.Param(r.Request, "name"), common.ValueEncodingEscaping)
	return a.list(r, func(lists [][]*labels.Matcher) ([]string, error) {
		return a.Series.Values(r.Context(), r.sees, name, lists...)
	})
}

func (a Handlers) metadata(r *request) (*Answer, error) {
	limit, perMetric := r.Limit("limit"), r.Limit("limit_per_metric")
	if r.fault != nil {
		return nil, r.fault
	}
	kinds, err := a.Series.Kinds(r.Context(), r.sees)
	if err != nil {
		return nil, err
	}
	type item struct {
		Type string `json:"type"`
		Help string `json:"help"`
		Unit string `json:"unit"`
	}
	shown := map[string][]item{}
	sent := a.SentMetadata(r.who.User)
	for name, m := range sent {
		shown[name] = []item{{m.Kind, m.Help, m.Unit}}
	}
	kindOf := func(name string) string { return sent[name].Kind }
	for name, list := range kinds {
		_, described := sent[name]
		for _, kind := range list {
			t, source := model.TypeOf(&kind, kindOf)
			one := item{string(t), "", kind.Unit}
			if (!described || source == model.TypeIsSet) && !slices.Contains(shown[name], one) {
				shown[name] = append(shown[name], one)
			}
		}
	}
	if only := r.Get("metric"); only != "" {
		maps.DeleteFunc(shown, func(name string, _ []item) bool { return name != only })
	}
	answer := new(Answer)
	cut := make(map[string][]item, len(shown))
	for _, name := range Cut(answer, slices.Sorted(maps.Keys(shown)), limit) {
		list := shown[name]
		if perMetric > 0 {
			list = list[:min(len(list), perMetric)]
		}
		cut[name] = list
	}
	answer.Data = cut
	return answer, nil
}

func (a Handlers) format(r *request) (*Answer, error) {
	text, err := a.Engine.Format(r.Get("query"))
	if err != nil {
		return nil, invalid("query", err)
	}
	return &Answer{Data: text}, nil
}

// parseExpr reads the parameter query.
func (a Handlers) parseExpr(r *request) parser.Expr {
	expr, err := a.Engine.Parser().ParseExpr(r.Get("query"))
	if err != nil {
		r.refuse(invalid("query", err))
	}
	return expr
}

func (a Handlers) parse(r *request) (*Answer, error) {
	expr := a.parseExpr(r)
	return &Answer{Data: treeOf(expr)}, r.fault
}

// started is when this process began to serve.
var started = time.Now()

func (a Handlers) runtimeInfo(*request) (*Answer, error) {
	return &Answer{Data: map[string]any{
		"startTime": started.UTC(), "CWD": "", "reloadConfigSuccess": true, "lastConfigTime": started.UTC(),
		"corruptionCount": 0,
		"goroutineCount":  runtime.NumGoroutine(), "GOMAXPROCS": runtime.GOMAXPROCS(0), "GOMEMLIMIT": 0,
		"GOGC": "", "GODEBUG": "",
		"storageRetention": "by archive policy",
	}}, nil
}

// seriesStatus says which names and labels have the most series, of those that the user sees.
func (a Handlers) seriesStatus(r *request) (*Answer, error) {
	limit := cmp.Or(r.Limit("limit"), 10)
	if r.fault != nil {
		return nil, r.fault
	}
	s, err := a.Series.Statistics(r.Context(), r.sees, limit)
	if err != nil {
		return nil, err
	}
	return &Answer{Data: map[string]any{
		"headStats": map[string]any{"numSeries": s.Series, "numLabelPairs": s.Pairs, "chunkCount": 0,
			"minTime": 0, "maxTime": 0},
		"seriesCountByMetricName":     web.OrEmpty(s.ByName),
		"labelValueCountByLabelName":  web.OrEmpty(s.ValuesByLabel),
		"memoryInBytesByLabelName":    []postings.Count{},
		"seriesCountByLabelValuePair": web.OrEmpty(s.ByPair),
	}}, nil
}
