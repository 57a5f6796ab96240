package prometheus

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/gnocco-db/gnocco/api/auth"
	"github.com/gnocco-db/gnocco/api/series"
	"github.com/gnocco-db/gnocco/api/web"
	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/ingest"
	"github.com/gnocco-db/gnocco/internal/budget"
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
	version2, err := requireRemoteWrite(r)
	if err != nil {
		return err
	}
	if version2 {
		return a.postSeries2(w, r, who, s)
	}
	s.rows.request.KeepsHistograms = true
	defer func() { s.rows.request.KeepsHistograms = false }()
	if err := a.readVersion1(w, r, s); err != nil {
		return err
	}
	a.writer.Describe(r.Context(), who, s.rows.request.Metadata) // types decide on archive policies
	push := series.Push{Protocol: protocol, Rows: labelledRows{&s.rows}}
	outcome, err := a.writer.Append(r.Context(), who, &push, &s.batch)
	if err != nil {
		return err
	}
	request := &s.rows.request
	if histograms := &request.Histograms; histograms.Len() > 0 {
		push := series.Push{Protocol: protocol, Scope: "2", Rows: histograms}
		more, err := a.writer.Append(r.Context(), who, &push, &histograms.Named)
		if err != nil {
			return err
		}
		outcome.Add(&more)
	}
	a.writer.KeepExemplars(who, protocol, &request.Exemplars)
	if err := outcome.Err(); err != nil {
		return err
	}
	return refusedElements("", request.WrongHistogram, request.WrongTime, request.Latest)
}

// protocol is the name of remote write in counters.
const protocol = "remote_write"

// postSeries2 is postSeries for version 2, which answers with the numbers of stored elements.
func (a *Handlers) postSeries2(w http.ResponseWriter, r *http.Request, who *auth.Identity, s *scratch) (err error) {
	const written = "X-Prometheus-Remote-Write-"
	for _, of := range []string{"Samples", "Histograms", "Exemplars"} {
		w.Header().Set(written+of+"-Written", "0")
	}
	two := &s.two
	two.Batch.Acquire = web.AcquireFor(r.Context(), budget.Measures)
	defer func() { two.Batch.Acquire = nil }()
	if err := a.readMessage(w, r, s, two.Batch.Acquire); err != nil {
		return err
	}
	latest := a.writer.Latest()
	if err := two.Decode(s.rows.request.plain, latest); err != nil {
		return refusal(err)
	}
	a.writer.Describe(r.Context(), who, two.Metadata) // types decide on archive policies
	stored := two.Batch.Written()
	push := series.Push{Protocol: protocol, Scope: "2", Rows: &two.Batch, Drop: stored.Drop}
	outcome, err := a.writer.Append(r.Context(), who, &push, &two.Batch.Named)
	if err != nil {
		return err
	}
	w.Header().Set(written+"Samples-Written", strconv.Itoa(stored.Numbers))
	w.Header().Set(written+"Histograms-Written", strconv.Itoa(stored.Histograms))
	w.Header().Set(written+"Exemplars-Written", strconv.Itoa(a.writer.KeepExemplars(who, protocol, &two.Exemplars)))
	a.writer.Refuse(protocol, "native_histogram", two.WrongHistograms, two.WrongHistogram)
	a.writer.Refuse(protocol, "start_timestamp", two.StartTimestamps, "start timestamps are not stored")
	a.writer.Refuse(protocol, "time", two.WrongTimes, two.WrongTime)
	if err := outcome.Err(); err != nil {
		return err
	}
	return refusedElements(two.Duplicate, two.WrongHistogram, two.WrongTime, latest)
}

// refusedElements returns the answer to a request with refused elements, each the name of a series; "" for none.
func refusedElements(duplicate, histogram, wrongTime string, latest carbonara.Timestamp) error {
	switch {
	case duplicate != "":
		return web.BadRequest("series with a label twice were refused, everything else was stored: %s", duplicate)
	case histogram != "":
		return web.BadRequest("native histograms were refused, everything else was stored: %s", histogram)
	case wrongTime != "":
		return wrongTimeError(wrongTime, latest)
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
