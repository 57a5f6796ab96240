package api

import (
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/api/auth"
	"github.com/gnocco-db/gnocco/api/text"
	"github.com/gnocco-db/gnocco/api/web"
	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/query"
)

// measuresQuery is what GET …/measures asks for.
type measuresQuery struct {
	query.MetricRead
	refresh bool
}

// outgoingScratch is the memory that answering a query of measures needs.
type outgoingScratch struct {
	query.Aggregates
	body []byte
}

func (s *outgoingScratch) bytes() int { return cap(s.body) + s.Capacity() }

// getMeasures answers a metric's aggregates, as [timestamp, granularity, value].
func (a *api) getMeasures(w http.ResponseWriter, r *http.Request, who *auth.Identity, metric *model.Metric) error {
	read, err := parseMeasuresQuery(r.URL.Query(), metric, carbonara.FromTime(a.Now()))
	if err != nil {
		return err
	}
	read.Staleness = web.StalenessOf(r.Context())
	if read.refresh {
		if err := a.reader.Refresh(r.Context(), metric); err != nil {
			return err
		}
	}
	s := a.outgoing.Get()
	defer func() { a.outgoing.Put(s, s.bytes()) }()
	err = a.Patiently(r.Context(), func() error {
		read.Rows = query.NewRows(a.Limits.Rows)
		return a.reader.Aggregates(r.Context(), &read.MetricRead, &s.Aggregates)
	})
	if err != nil {
		return err
	}
	// All is read: from here on nothing can fail, and the answer may be sent piece by piece.
	out := text.NewWriter(w, s.body)
	writeAggregates(&out, &s.Aggregates, &read.MetricRead)
	s.body = out.Buffer()
	return out.Finish()
}

// writeAggregates writes what was read.
func writeAggregates(out *text.Writer, s *query.Aggregates, read *query.MetricRead) {
	out.StartRows()
	from := 0
	for i, end := range s.Ends {
		out.Label(label(read, read.Granularities[i]))
		out.Rows(s.Starts[from:end], s.Values[from:end], nil)
		from = end
	}
	out.EndRows()
}

// label returns the text that stands for the granularity in each row: seconds, or the calendar's letter.
func label(read *query.MetricRead, granularity time.Duration) []byte {
	if read.Resample != nil {
		return groupingLabel(read.Resample)
	}
	return text.AppendFloat(nil, granularity.Seconds())
}

// groupingLabel returns the text that stands for a grouping in each row.
func groupingLabel(g query.Grouping) []byte {
	if width := g.Width(); width > 0 {
		return text.AppendFloat(nil, width.Seconds())
	}
	return []byte(`"` + g.Letter() + `"`)
}

// parseGrouping reads resample= and tz=.
func parseGrouping(values url.Values) (query.Grouping, error) {
	return query.ParseGrouping(values.Get("resample"), values.Get("tz"))
}

func parseMeasuresQuery(values url.Values, metric *model.Metric, now carbonara.Timestamp) (measuresQuery, error) {
	read := measuresQuery{MetricRead: query.MetricRead{Metric: metric, To: carbonara.MaxTimestamp}}
	fail := func(err error) (measuresQuery, error) { return measuresQuery{}, err }
	granularityText := values.Get("granularity")
	if values.Get("resample") != "" && granularityText == "" {
		return fail(web.BadRequest("A granularity must be specified to resample"))
	}
	var err error
	if read.Resample, err = parseGrouping(values); err != nil {
		return fail(err)
	}
	if err := parseInstant(values, "start", now, &read.From); err != nil {
		return fail(err)
	}
	if err := parseInstant(values, "stop", now, &read.To); err != nil {
		return fail(err)
	}
	policy := metric.ArchivePolicy
	if values.Has("granularity") {
		granularity, err := model.ParseTimespan(granularityText)
		if err != nil {
			return fail(web.BadArgument("granularity", err.Error()))
		}
		read.Granularities = []time.Duration{granularity}
	} else {
		read.Granularities = slices.Clone(policy.Granularities())
		slices.Reverse(read.Granularities)
	}
	name := "mean"
	if values.Has("aggregation") {
		name = values.Get("aggregation")
	}
	method, err := carbonara.ParseMethod(name)
	if err != nil || !policy.HasMethod(method) {
		return fail(noMethod(metric, name))
	}
	read.Method = method
	for _, granularity := range read.Granularities {
		if !policy.HasGranularity(granularity) {
			return fail(web.NotFound("Aggregation method '%s' at granularity '%s' for metric %s does not exist",
				name, text.AppendFloat(nil, granularity.Seconds()), metric.ID))
		}
	}
	if read.Exact, err = web.ParseBool(values, "exact", false); err != nil {
		return fail(err)
	}
	if read.Exact && read.Resample == nil {
		return fail(web.BadArgument("exact", "Goes with resample: what is stored is exact"))
	}
	read.refresh, err = web.ParseBool(values, "refresh", false)
	return read, err
}

// parseInstant reads a parameter into t, if it is given.
func parseInstant(values url.Values, name string, now carbonara.Timestamp, t *carbonara.Timestamp) error {
	if !values.Has(name) {
		return nil
	}
	parsed, err := model.ParseTimestamp(values.Get(name), now)
	if err != nil || len(values[name]) > 1 {
		return web.BadArgument(name, "Must be a datetime or a timestamp")
	}
	*t = parsed
	return nil
}

func noMethod(metric *model.Metric, name string) *web.Error {
	return &web.Error{Status: http.StatusNotFound, Detail: web.Cause{
		Cause: "Aggregation method does not exist for this metric",
		Detail: struct {
			Metric uuid.UUID `json:"metric"`
			Method string    `json:"aggregation_method"`
		}{metric.ID, name},
	}}
}
