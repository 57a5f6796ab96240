package api

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/google/uuid"

	"gnocco/carbonara"
	"gnocco/model"
)

// measuresQuery is what GET …/measures asks for.
type measuresQuery struct {
	from, to      carbonara.Timestamp
	method        carbonara.Method
	granularities []time.Duration // coarsest first
	resample      grouping        // nil: as stored
	exact         bool            // resample from moments, not from aggregates
	refresh       bool
}

// outgoingScratch is the memory that answering a query of measures needs.
type outgoingScratch struct {
	groups carbonara.Groups
	starts []carbonara.Timestamp
	values []float64
	ends   []int // of each granularity's part of starts and values
	body   []byte
	regrouping
}

// getMeasures answers a metric's aggregates, as [timestamp, granularity, value].
func (a *api) getMeasures(w http.ResponseWriter, r *http.Request, _ *Identity, metric *model.Metric) error {
	query, err := parseMeasuresQuery(r.URL.Query(), metric, carbonara.FromTime(a.Now()))
	if err != nil {
		return err
	}
	if query.refresh {
		ctx, cancel := context.WithTimeout(r.Context(), a.Timeout)
		defer cancel()
		if err := a.Archives.Refresh(ctx, []uuid.UUID{metric.ID}); err != nil {
			return err
		}
	}
	s := a.outgoing.get()
	defer func() { a.outgoing.put(s, cap(s.body)+16*cap(s.values)) }()
	s.starts, s.values, s.ends, s.body = s.starts[:0], s.values[:0], s.ends[:0], s.body[:0]
	for _, granularity := range query.granularities {
		if err := a.fetch(r.Context(), s, metric, granularity, &query); err != nil {
			return err
		}
		s.ends = append(s.ends, len(s.starts))
	}
	// All is read: from here on nothing can fail, and the answer may be sent piece by piece.
	w.Header()["Content-Type"] = jsonContentType
	writeRows(w, s, &query)
	return nil
}

// fetch appends the aggregates of one granularity to s.
func (a *api) fetch(ctx context.Context, s *outgoingScratch, metric *model.Metric, granularity time.Duration, query *measuresQuery) error {
	if query.exact {
		return a.resampleExactly(ctx, s, metric, granularity, query)
	}
	read := readOf(metric, granularity, query.method, query.from, query.to)
	if query.resample != nil {
		read.From, read.To = query.resample.span(query.from, query.to)
		if query.method.IsRate() {
			// The first difference starts at an aggregate before, as far back as Gnocchi looks: the split's first.
			read.From = min(read.From, carbonara.SplitKeyOf(query.from, granularity).Start)
		}
	}
	if err := a.Archives.Groups(ctx, read, &s.groups); err != nil {
		return err
	}
	if query.resample == nil {
		s.starts, s.values = s.groups.Aggregate(query.method, s.starts, s.values)
		return nil
	}
	return a.regroup(ctx, s, query)
}

// flushSize is how much of an answer is gathered before it is sent.
const flushSize = 64 << 10

// writeRows sends the rows. An answer of one piece gets a Content-Length.
func writeRows(w http.ResponseWriter, s *outgoingScratch, query *measuresQuery) {
	body, flushed, row := append(s.body[:0], '['), false, 0
	var text rowText
	defer func() { s.body = body }()
	for i, end := range s.ends {
		text.label(label(query, query.granularities[i]))
		for ; row < end; row++ {
			body = text.append(body, s.starts[row], s.values[row])
			if len(body) >= flushSize {
				if _, err := w.Write(body); err != nil {
					return // the client is gone
				}
				body, flushed = body[:0], true
			}
		}
	}
	body = append(body, ']')
	if !flushed {
		w.Header()["Content-Length"] = []string{strconv.Itoa(len(body))}
	}
	_, _ = w.Write(body)
}

// label is what stands for the granularity in each row: seconds, or the calendar's letter.
func label(query *measuresQuery, granularity time.Duration) []byte {
	if query.resample != nil {
		return query.resample.label()
	}
	return appendFloat(nil, granularity.Seconds())
}

func parseMeasuresQuery(values url.Values, metric *model.Metric, now carbonara.Timestamp) (measuresQuery, error) {
	query := measuresQuery{to: carbonara.MaxTimestamp}
	fail := func(err error) (measuresQuery, error) { return measuresQuery{}, err }
	granularityText := values.Get("granularity")
	if values.Get("resample") != "" && granularityText == "" {
		return fail(badRequest("A granularity must be specified to resample"))
	}
	var err error
	if query.resample, err = parseGrouping(values); err != nil {
		return fail(err)
	}
	if err := parseInstant(values, "start", now, &query.from); err != nil {
		return fail(err)
	}
	if err := parseInstant(values, "stop", now, &query.to); err != nil {
		return fail(err)
	}
	policy := metric.ArchivePolicy
	if values.Has("granularity") {
		granularity, err := model.ParseTimespan(granularityText)
		if err != nil {
			return fail(badArgument("granularity", err.Error()))
		}
		query.granularities = []time.Duration{granularity}
	} else {
		query.granularities = slices.Clone(policy.Granularities())
		slices.Reverse(query.granularities)
	}
	name := "mean"
	if values.Has("aggregation") {
		name = values.Get("aggregation")
	}
	method, err := carbonara.ParseMethod(name)
	if err != nil || !policy.HasMethod(method) {
		return fail(noMethod(metric, name))
	}
	query.method = method
	for _, granularity := range query.granularities {
		if !policy.HasGranularity(granularity) {
			return fail(notFound("Aggregation method '%s' at granularity '%s' for metric %s does not exist",
				name, appendFloat(nil, granularity.Seconds()), metric.ID))
		}
	}
	if query.exact, err = parseBool(values, "exact", false); err != nil {
		return fail(err)
	}
	if query.exact && query.resample == nil {
		return fail(badArgument("exact", "Goes with resample: what is stored is exact"))
	}
	query.refresh, err = parseBool(values, "refresh", false)
	return query, err
}

// parseInstant reads a parameter into t, if it is given.
func parseInstant(values url.Values, name string, now carbonara.Timestamp, t *carbonara.Timestamp) error {
	if !values.Has(name) {
		return nil
	}
	parsed, err := model.ParseTimestamp(values.Get(name), now)
	if err != nil {
		return badArgument(name, "Must be a datetime or a timestamp")
	}
	*t = parsed
	return nil
}

func noMethod(metric *model.Metric, name string) *Error {
	return &Error{Status: http.StatusNotFound, Detail: Cause{
		Cause: "Aggregation method does not exist for this metric",
		Detail: struct {
			Metric uuid.UUID `json:"metric"`
			Method string    `json:"aggregation_method"`
		}{metric.ID, name},
	}}
}
