package prometheus

import (
	"errors"
	"net/http"
	"strconv"
	"strings"

	"github.com/gnocco-db/gnocco/api/auth"
	"github.com/gnocco-db/gnocco/api/web"
	"github.com/gnocco-db/gnocco/ingest/series"
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
	a.FailAs(w, r, err, func(status int, text string) { http.Error(w, text, status) })
}

// postSeries accepts a remote write. A fault of one series does not keep the others from being stored: a sender does
// not repeat a request that was answered with 400.
func (a *Handlers) postSeries(w http.ResponseWriter, r *http.Request, who *auth.Identity) (err error) {
	s := a.pool.Get()
	defer func() { a.pool.Put(s, s.bytes()) }()
	request := &s.request
	request.Labelled = true
	if request.Version2, err = requireRemoteWrite(r); err != nil {
		return err
	}
	// Version 2 answers with the numbers of stored elements.
	written := func(of string, n int) {
		if request.Version2 {
			w.Header().Set("X-Prometheus-Remote-Write-"+of+"-Written", strconv.Itoa(n))
		}
	}
	for _, of := range []string{"Samples", "Histograms", "Exemplars"} {
		written(of, 0)
	}
	if err := a.read(w, r, s); err != nil {
		return err
	}
	a.writer.Describe(r.Context(), who.User, request.Metadata) // types decide on archive policies
	stored := request.Written()
	push := series.Push{Creator: who.User, Rights: a.RightsOf(who), Protocol: protocol, Rows: &request.Batch,
		Drop: stored.Drop}
	outcome, err := a.writer.Append(r.Context(), &push, &request.Named)
	if err != nil {
		return err
	}
	written("Samples", stored.Numbers+request.Ends)
	written("Histograms", stored.Histograms+request.HistogramEnds)
	written("Exemplars", a.writer.KeepExemplars(who.User, protocol, &request.Exemplars))
	a.writer.Refuse(protocol, "native_histogram", request.WrongHistograms, request.WrongHistogram)
	a.writer.Refuse(protocol, "labels", request.Duplicates, request.Duplicate)
	a.writer.Refuse(protocol, "time", request.WrongTimes, request.WrongTime)
	switch first := outcome.First; {
	case first == nil:
		return request.refused()
	case !errors.Is(first, model.ErrInvalid):
		return first
	}
	return web.BadRequest("%d of %d series were refused, the others stored: %s", outcome.Refused, outcome.Rows,
		web.AsError(outcome.First).Description())
}

// protocol is the name of remote write in counters.
const protocol = "remote_write"

// refused returns the answer to a request with refused elements, as of the first series.
func (r *WriteRequest) refused() error {
	switch {
	case r.Duplicate != "":
		return web.BadRequest("%d series were refused, everything else was stored: %s", r.Duplicates, r.Duplicate)
	case r.WrongHistogram != "":
		return web.BadRequest("native histograms were refused, everything else was stored: %s", r.WrongHistogram)
	case r.WrongTime != "":
		return web.BadRequest("measures from before 1970 or after %s were refused, everything else was stored: %s",
			web.ShowTime(r.Latest), r.WrongTime)
	}
	return nil
}
