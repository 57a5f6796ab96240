package prometheus

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/gnocco-db/gnocco/api/auth"
	"github.com/gnocco-db/gnocco/api/web"
	"github.com/gnocco-db/gnocco/ingest/series"
	"github.com/gnocco-db/gnocco/internal/counted"
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
	first, err := a.writer.Append(r.Context(), &push, &request.Named)
	if err != nil {
		return err
	}
	written("Samples", stored.Numbers+request.Ends)
	written("Histograms", stored.Histograms+request.HistogramEnds)
	written("Exemplars", a.writer.KeepExemplars(who.User, protocol, &request.Exemplars))
	refuse := func(reason string, of *LeftOut) { a.writer.Refuse(protocol, reason, of.N, of.First) }
	refuse("native_histogram", &request.Histograms)
	refuse("labels", &request.Duplicates)
	refuse("time", &request.Times)
	refuse("exemplar_or_metadata", &request.Others)
	if first != nil && !errors.Is(first, model.ErrInvalid) {
		return first
	}
	return request.refused(stored, first)
}

// protocol is the name of remote write in counters.
const protocol = "remote_write"

// refused returns the answer to a request of which not all samples, native histograms among them, are stored: their
// number, and of each reason the first series. first is of those that the writer refused.
func (r *WriteRequest) refused(stored *series.Written, first error) error {
	var reasons []string
	add := func(of LeftOut, elements string) {
		if of.First != "" {
			reasons = append(reasons, fmt.Sprintf("%d %s: %s", of.N, elements, of.First))
		}
	}
	if first != nil {
		reasons = append(reasons, web.AsError(first).Description())
	}
	add(r.Duplicates, "series")
	add(r.Histograms, "of native histograms")
	add(r.Times, "from before 1970 or after "+web.ShowTime(r.Latest))
	add(r.Others, "of exemplars or metadata")
	if reasons == nil {
		return nil
	}
	return web.BadRequest("%d of %s refused, the others stored: %s",
		r.Sent-stored.Numbers-stored.Histograms-r.Ends-r.HistogramEnds, counted.Of(r.Sent, "sample"), strings.Join(reasons, "; "))
}
