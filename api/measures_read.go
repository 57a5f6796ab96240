package api

import (
	"net/http"
	"time"

	"github.com/gnocco-db/gnocco/api/auth"
	"github.com/gnocco-db/gnocco/api/text"
	"github.com/gnocco-db/gnocco/api/web"
	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/query"
)

// outgoingScratch is the memory that answering a query of measures needs.
type outgoingScratch struct {
	query.Aggregates
	body []byte
}

func (s *outgoingScratch) bytes() int { return cap(s.body) + s.Capacity() }

// getMeasures answers a metric's aggregates, as [timestamp, granularity, value].
func (a *api) getMeasures(w http.ResponseWriter, r *http.Request, _ *auth.Identity, metric *model.Metric) error {
	read, err := query.ParseMetricRead(r.URL.Query(), metric, carbonara.FromTime(a.Now()))
	if err != nil {
		return err
	}
	read.Staleness = web.StalenessOf(r.Context())
	if read.Refresh {
		if err := a.reader.Refresh(r.Context(), metric); err != nil {
			return err
		}
	}
	s := a.outgoing.Get()
	defer func() { a.outgoing.Put(s, s.bytes()) }()
	err = a.Patiently(r.Context(), func() error {
		read.Rows = query.NewRows(a.Limits.Rows)
		return a.reader.Aggregates(r.Context(), read, &s.Aggregates)
	})
	if err != nil {
		return err
	}
	// All is read: from here on nothing can fail, and the answer may be sent piece by piece.
	out := text.NewWriter(w, s.body)
	useAccepted(&out, w, r)
	if read.OfSketches() {
		w.Header().Set("Warning", ofSketches)
	}
	writeAggregates(&out, &s.Aggregates, read)
	s.body = out.Buffer()
	return out.Finish()
}

// useAccepted makes an answer rows of the form that the client prefers.
func useAccepted(out *text.Writer, w http.ResponseWriter, r *http.Request, columns ...string) {
	if form := web.AcceptedRows(r); form != &text.Lists {
		w.Header().Add("Vary", "Accept")
		out.Use(form, columns...)
	}
}

// ofSketches says that percentiles are approximate.
const ofSketches = `299 - "percentiles are those of sketches, within 1.1 %"`

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
