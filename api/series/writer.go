package series

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/gnocco-db/gnocco/api/auth"
	"github.com/gnocco-db/gnocco/api/web"
	"github.com/gnocco-db/gnocco/ingest"
	"github.com/gnocco-db/gnocco/model"
)

// A Writer makes pushed series durable. All protocols share it.
type Writer struct {
	*web.Env
	ingester  *ingest.Ingester
	newSeries newSeries
	metadata  metadata
	logged    sync.Map // refusals that are logged, by protocol and reason
}

// NewWriter returns a Writer whose measures go to an ingester. It reads the metadata that the index keeps.
func NewWriter(env *web.Env, ingester *ingest.Ingester) (*Writer, error) {
	w := &Writer{Env: env, ingester: ingester}
	return w, w.metadata.load(env)
}

// A Push is one request's series.
type Push struct {
	Protocol  string        // in counters and logs
	Scope     string        // of the rows' keys, beside the protocol
	MaxFuture time.Duration // how far ahead of the clock measures may be; 0: as the ingester says
	Rows      ingest.Rows
	Rights    ingest.Rights // nil: the user's

	// Drop is called for each refused row. nil: Outcome says enough.
	Drop func(row int, err error)
}

// An Outcome says which rows of a push were refused.
type Outcome struct {
	Rows, Refused int
	First         error // of the first refused row; an error that another attempt may mend goes first
}

// Err returns the answer to a push with refused rows, nil for none.
func (o *Outcome) Err() error {
	switch {
	case o.First == nil || !isBadRequest(o.First):
		return o.First
	default:
		return web.BadRequest("%d of %d series were refused, the others stored: %s", o.Refused, o.Rows,
			web.AsError(o.First).Description())
	}
}

// Append makes the measures of a push durable. Its error concerns the whole push; the outcome names refused rows.
func (w *Writer) Append(ctx context.Context, who *auth.Identity, push *Push, batch *ingest.NamedBatch) (
	Outcome, error) {
	o := Outcome{Rows: push.Rows.Len()}
	timestamps, _ := push.Rows.Columns()
	accepted := len(timestamps)
	p := ingest.Protocol{Labels: true, Scope: push.Protocol + "\x00" + push.Scope, MaxFuture: push.MaxFuture}
	p.Kind = func(name string) string { return w.metadata.kind(web.ProjectOf(who), name) }
	p.Drop = func(row int, err error) {
		err = permanent(err)
		// A sender does not repeat a request that was answered with 400.
		if o.First == nil || isBadRequest(o.First) && !isBadRequest(err) {
			o.First = err
		}
		o.Refused++
		from, to := push.Rows.Span(row)
		accepted -= to - from
		w.Refuse(push.Protocol, reasonOf(err), to-from, err.Error())
		if push.Drop != nil {
			push.Drop(row, err)
		}
	}
	rights := &rights{push.Rights, who, w}
	if rights.Rights == nil {
		rights.Rights = w.RightsOf(who)
	}
	if err := w.ingester.AppendNamed(ctx, who.User, rights, push.Rows, &p, batch); err != nil {
		return o, err
	}
	w.CountPushed(push.Protocol, accepted)
	return o, nil
}

// Fail logs an error and answers it by a function of the protocol, with a status and a sentence.
func (w *Writer) Fail(rw http.ResponseWriter, r *http.Request, err error, answer func(status int, text string)) {
	e := web.AsError(err)
	if r.Context().Err() == nil { // else the client has given up
		w.LogFailure(r, e, err)
	}
	if e.Status == http.StatusServiceUnavailable || e.Status == http.StatusTooManyRequests {
		after := strconv.Itoa(max(int(math.Ceil(e.After.Seconds())), 1))
		rw.Header().Set("Retry-After", cmp.Or(rw.Header().Get("Retry-After"), after))
	}
	shown := web.Error{Detail: web.Bounded(e.Detail)}
	answer(e.Status, cmp.Or(shown.Description(), http.StatusText(e.Status)))
}

// Refuse counts elements that a protocol does not store. It logs the first refusal of each reason.
func (w *Writer) Refuse(protocol, reason string, elements int, example string) {
	if elements == 0 {
		return
	}
	w.CountRefused(protocol, reason, elements)
	if _, logged := w.logged.LoadOrStore(protocol+" "+reason, true); !logged {
		w.Logger.Warn("a sender's elements are refused; gnocco_push_refused_total counts further ones",
			"protocol", protocol, "reason", reason, "example", fmt.Sprintf("%.300s", example))
	}
}

// permanent returns the error of a row that no repetition mends as a fault of the request: senders drop rows that are
// answered with 400. Some repeat any other status for ever, and hold up all that comes later.
func permanent(err error) error {
	if over, ok := errors.AsType[*model.QuotaError](err); ok && over.After == 0 {
		return &web.Error{Status: http.StatusBadRequest, Detail: over.Error(), Err: err}
	}
	return err
}

// reasonOf returns the reason of a refused row, for its counter.
func reasonOf(err error) string {
	if _, ok := errors.AsType[*ingest.FutureError](err); ok {
		return "future"
	}
	if _, ok := errors.AsType[*model.QuotaError](err); ok {
		return "quota"
	}
	switch web.AsError(err).Status {
	case http.StatusBadRequest:
		return "labels"
	case http.StatusTooManyRequests:
		return "new_series"
	case http.StatusForbidden:
		return "forbidden"
	}
	return "unavailable"
}

func isBadRequest(err error) bool { return web.AsError(err).Status == http.StatusBadRequest }
