package prometheus

import (
	"net/http"
	"strings"

	"github.com/gnocco-db/gnocco/api/auth"
	"github.com/gnocco-db/gnocco/api/series"
	"github.com/gnocco-db/gnocco/api/web"
	"github.com/gnocco-db/gnocco/ingest"
	"github.com/gnocco-db/gnocco/model"
)

// writeSeries answers a remote write that keeps all labels. Prometheus logs the first line of an error: there is one,
// unless the client asks for JSON.
func (a *Handlers) writeSeries(w http.ResponseWriter, r *http.Request) {
	err := a.WithIdentity(a.postSeries)(w, r)
	if err == nil {
		w.WriteHeader(http.StatusNoContent)
		return
	}
	if strings.Contains(r.Header.Get("Accept"), "application/json") {
		a.Fail(w, r, err)
		return
	}
	a.writer.Fail(w, r, err, func(status int, text string) { http.Error(w, text, status) })
}

// postSeries accepts a remote write. A fault of one series does not keep the others from being stored: a sender does
// not repeat a request that was answered with 400.
func (a *Handlers) postSeries(w http.ResponseWriter, r *http.Request, who *auth.Identity) error {
	s := a.pool.Get()
	defer func() { a.pool.Put(s, s.bytes()) }()
	if err := a.readRemoteWrite(w, r, s); err != nil {
		return err
	}
	a.writer.Describe(who, s.rows.request.Metadata) // types decide on archive policies
	push := series.Push{Protocol: "remote_write", Rows: labelledRows{&s.rows}}
	outcome, err := a.writer.Append(r.Context(), who, &push, &s.batch)
	if err != nil {
		return err
	}
	if err := outcome.Err(); err != nil {
		return err
	}
	switch {
	case s.rows.request.NativeHistogram != "":
		return web.BadRequest("native histograms are not supported, everything else was stored: %s",
			s.rows.request.NativeHistogram)
	case s.rows.request.WrongTime != "":
		return s.wrongTime()
	}
	return nil
}

// labelledRows are a remote write's series, each set of labels being a metric.
type labelledRows struct{ *gnocchiRows }

// Name is of ingest.Rows.
func (r labelledRows) Name(row int) (*ingest.Name, error) {
	labels, err := r.request.Labels(row)
	if err != nil {
		return nil, invalidInput(err)
	}
	return &ingest.Name{Metric: labels.Get(model.LabelName), Labels: labels}, nil
}
