package web

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"html"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/api/auth"
	"github.com/gnocco-db/gnocco/api/measures"
	"github.com/gnocco-db/gnocco/api/text"
	"github.com/gnocco-db/gnocco/ingest"
	"github.com/gnocco-db/gnocco/ingest/series"
	"github.com/gnocco-db/gnocco/internal/budget"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/query"
	"github.com/gnocco-db/gnocco/query/correlations"
	"github.com/gnocco-db/gnocco/storage/incoming"
)

// Error is an answer other than success. Handlers return it where they know what to tell the client; any other
// error gets its status by its kind, in asError.
type Error struct {
	Status int
	Detail any           // the description: a string, a Cause, or nil
	Err    error         // what lies behind it, for the log; may be nil
	After  time.Duration // until the client may try again; 0: it is not known
}

// Cause is a description in parts. Which parts there are depends on the fault, as in Gnocchi.
type Cause struct {
	Cause   string   `json:"cause"`
	Reason  string   `json:"reason,omitempty"`
	Detail  any      `json:"detail"`
	Element []string `json:"element,omitempty"` // path to the fault, where it goes deeper than Detail
}

func (e *Error) Error() string {
	text := fmt.Sprintf("api: %d %s", e.Status, http.StatusText(e.Status))
	if e.Detail != nil {
		text += ": " + e.Description()
	}
	if e.Err != nil {
		text += ": " + e.Err.Error()
	}
	return text
}

func (e *Error) Unwrap() error { return e.Err }

// Is reports the kind of a fault of the request, by which package series knows rows that no repetition mends.
func (e *Error) Is(kind error) bool {
	return kind == model.ErrInvalid && e.Status == http.StatusBadRequest
}

func BadRequest(format string, args ...any) *Error {
	return &Error{Status: http.StatusBadRequest, Detail: fmt.Sprintf(format, args...)}
}

func NotFound(format string, args ...any) *Error {
	return &Error{Status: http.StatusNotFound, Detail: fmt.Sprintf(format, args...)}
}

// BadArgument is about one parameter of the query.
func BadArgument(name, reason string) *Error { return BadCause("Argument value error", reason, name) }

// BadAttribute is about one attribute of an object.
func BadAttribute(name, reason string) *Error { return BadCause("Attribute value error", reason, name) }

// BadCause is a fault of the request, in parts.
func BadCause(cause, reason string, detail any) *Error {
	return &Error{Status: http.StatusBadRequest, Detail: Cause{Cause: cause, Reason: reason, Detail: detail}}
}

// AsError gives every error its status. An unknown one is a fault of ours: 500, and no detail for the client.
func AsError(err error) *Error {
	if known, ok := errors.AsType[*Error](err); ok {
		return known
	}
	for _, answer := range answers {
		if e := answer(err); e != nil {
			e.Err = err
			return e
		}
	}
	return &Error{Status: http.StatusInternalServerError, Err: err}
}

// is answers errors of one value.
func is(target error, status int, detail any) func(error) *Error {
	return func(err error) *Error {
		if !errors.Is(err, target) {
			return nil
		}
		return &Error{Status: status, Detail: detail}
	}
}

// as answers errors of one type.
func as[E error](answer func(E) *Error) func(error) *Error {
	return func(err error) *Error {
		if e, ok := errors.AsType[E](err); ok {
			return answer(e)
		}
		return nil
	}
}

// plainText answers errors of one type whose texts are for clients.
func plainText[E error](err E) *Error {
	return &Error{Status: http.StatusBadRequest, Detail: err.Error()}
}

// answers are asked in this order: an error may be of several kinds.
var answers = []func(error) *Error{
	is(auth.ErrNoCredentials, http.StatusUnauthorized, nil),
	as(func(*auth.TooManyLoginsError) *Error {
		return &Error{Status: http.StatusTooManyRequests,
			Detail: "Too many wrong passwords came from your address. Please try again later."}
	}),
	is(auth.ErrKeystone, http.StatusServiceUnavailable, "Keystone cannot be asked about the token. Please try again."),
	as(func(e *ingest.ResourceIDError) *Error { return BadCause("Value error", e.Reason, "id") }),
	as(func(e *ingest.ResourceTypeError) *Error {
		return &Error{Status: http.StatusConflict,
			Detail: Cause{Cause: "Resource already exists", Detail: e.ID.String()}}
	}),
	as(func(e *ingest.NoPolicyError) *Error {
		return BadRequest(
			"No archive policy name specified and no archive policy rule found matching the metric name %s", e.Metric)
	}),
	as(func(e *ingest.AttributeError) *Error { return BadAttribute(e.Name, e.Reason) }),
	as(func(e *ingest.FutureError) *Error {
		return BadCause("Measure in the future", fmt.Sprintf("A measure may be %s ahead of the server's clock at most",
			e.Most), futureMeasure{e.Metric, ShowTime(e.Timestamp)})
	}),
	as(overQuota),
	as(func(e *series.NewSeriesError) *Error {
		return &Error{Status: http.StatusTooManyRequests, Detail: e.Error()}
	}),
	is(model.ErrForbidden, http.StatusForbidden, nil), // Gnocchi's clients look for its explanation
	as(func(e *measures.DecodeError) *Error {
		return &Error{Status: http.StatusBadRequest, Detail: decodeCause(e)}
	}),
	is(correlations.ErrBusy, http.StatusServiceUnavailable,
		"Too many correlations are under way. Please try again later."),
	as(tooLarge),
	is(budget.ErrExhausted, http.StatusServiceUnavailable,
		"Other requests use the memory that this one needs. Please try again later."),
	as(func(e *correlations.TooManyValuesError) *Error {
		return BadCause("Too many values", "Ask for fewer metrics, a shorter time or a coarser granularity", e.Most)
	}),
	as(func(e *query.TooManyRowsError) *Error {
		return BadCause("Too many rows",
			"Ask for it in parts, by start and stop, or for fewer metrics or a coarser granularity", e.Most)
	}),
	as(func(e *query.ArgumentError) *Error { return BadArgument(e.Argument, e.Reason) }),
	as(func(e *query.PredicateError) *Error { return Node{Path: e.Path}.Fault("%s", e.Reason) }),
	as(unaggregableMetrics),
	as(func(e *query.UnknownAggregationError) *Error {
		return &Error{Status: http.StatusNotFound, Detail: Cause{Cause: "Metrics with unknown aggregation",
			Detail: [][2]string{{e.Metric.String(), e.Aggregation}}}}
	}),
	as(absentAggregation),
	as(func(e *http.MaxBytesError) *Error {
		return &Error{Status: http.StatusRequestEntityTooLarge,
			Detail: fmt.Sprintf("A body holds %d bytes at most", e.Limit)}
	}),
	is(incoming.ErrNoSpace, http.StatusInsufficientStorage,
		"No space is left to accept measures. Please try again later."),
	as(func(e *model.DamagedError) *Error {
		cause, reason := unservedStore(e)
		return &Error{Status: http.StatusServiceUnavailable,
			Detail: Cause{Cause: cause, Reason: reason, Detail: e.Store}}
	}),
	is(context.DeadlineExceeded, http.StatusServiceUnavailable, tookTooLong),
	is(context.Canceled, http.StatusServiceUnavailable, tookTooLong),
	is(model.ErrUnavailable, http.StatusServiceUnavailable, "Not available at the moment. Please try again."),
	as(func(e *model.ObjectError) *Error { return &Error{Status: statusOf(e.Kind), Detail: e.Error()} }),
	as(plainText[*model.RefusedError]),
	as(plainText[*model.FieldError]),
}

// overQuota answers a project that uses as much as it may. A rate is 429, as the same request is accepted later. Series
// are 403, as OpenStack's services answer: to repeat the request is of no use.
func overQuota(e *model.QuotaError) *Error {
	status := http.StatusTooManyRequests
	if e.After == 0 {
		status = http.StatusForbidden
	}
	return &Error{Status: status, After: e.After, Detail: Cause{Cause: "Quota exceeded", Reason: e.Error(),
		Detail: map[string]any{"project": e.Project, "quota": e.Most}}}
}

const tookTooLong = "The operation took too long. Please try again."

// tooLarge answers a request whose memory is never had: for its body, or for the answer.
func tooLarge(e *budget.TooLargeError) *Error {
	if e.Use != budget.Answers {
		return &Error{Status: http.StatusRequestEntityTooLarge, Detail: fmt.Sprintf(
			"The body, and what it becomes in memory, takes more than the %d bytes that one request may have", e.Most)}
	}
	return &Error{Status: http.StatusUnprocessableEntity, Detail: Cause{
		Cause: "The query needs too much memory",
		Reason: fmt.Sprintf("It needs %d bytes or more, and one query may have %d of --memory-limit: %s",
			e.Need, e.Most,
			"ask for fewer metrics, a shorter time or a coarser granularity, or raise the limit"),
		Detail: neededMemory{e.Need, e.Most},
	}}
}

// absentAggregation names the granularity, unless the metric lacks the method at all.
func absentAggregation(e *query.AbsentAggregationError) *Error {
	if e.Granularity != 0 {
		return NotFound("Aggregation method '%s' at granularity '%s' for metric %s does not exist", e.Aggregation,
			text.AppendFloat(nil, e.Granularity.Seconds()), e.Metric)
	}
	return &Error{Status: http.StatusNotFound, Detail: Cause{
		Cause: "Aggregation method does not exist for this metric",
		Detail: struct {
			Metric uuid.UUID `json:"metric"`
			Method string    `json:"aggregation_method"`
		}{e.Metric, e.Aggregation},
	}}
}

// unservedStore returns what a client learns of a store that is not served.
func unservedStore(err *model.DamagedError) (cause, reason string) {
	switch err.Fault {
	case model.StoreLocked:
		return "Locked store", "A program has this store open; what it holds cannot be served until that program ends"
	case model.StoreMissing:
		return "Missing store",
			"The folder of this store is gone or empty; what it holds cannot be served until an operator has put it back"
	case model.StoreLater:
		return "Store of a later version",
			"A later version of gnocco has written this store; what it holds cannot be served until that version runs"
	case model.StoreUnopened:
		return "Store not opened", "This store could not be opened: " + err.Reason
	}
	return "Damaged store", "What this store holds cannot be served until an operator has repaired it"
}

// neededMemory is what a query needs and may have, in bytes, as an error shows it.
type neededMemory struct {
	Needed int64 `json:"needed"`
	Limit  int64 `json:"limit"`
}

// futureMeasure is a measure too far ahead of the clock, as an error shows it.
type futureMeasure struct {
	Metric    string `json:"metric"` // ID, or resource and name
	Timestamp any    `json:"timestamp"`
}

// statusOf is the usual status of an ObjectError's kind.
func statusOf(kind error) int {
	switch kind {
	case model.ErrNotFound:
		return http.StatusNotFound
	case model.ErrExists:
		return http.StatusConflict
	}
	return http.StatusBadRequest
}

// Refused turns an object that err names as missing or taken into a fault of the request: the object is not the one
// that the URL names. Other errors stay as they are.
func Refused(err error) error {
	if object, ok := errors.AsType[*model.ObjectError](err); ok {
		return BadRequest("%s", object.Error())
	}
	return err
}

// RefusedCause is refused, with the object's ID apart from the sentence.
func RefusedCause(err error) error {
	if object, ok := errors.AsType[*model.ObjectError](err); ok {
		return &Error{Status: http.StatusBadRequest, Detail: Cause{Cause: object.Cause(), Detail: object.ID}, Err: err}
	}
	return err
}

// unaggregableMetrics shows the metrics as Gnocchi does: with the granularity where they lack it.
func unaggregableMetrics(err *query.UnaggregableError) *Error {
	var detail any = err.Metrics
	if err.Granularity != 0 {
		missing := make([][3]any, len(err.Metrics))
		for i, metric := range err.Metrics {
			missing[i] = [3]any{metric[0], metric[1], text.Seconds(err.Granularity.Seconds())}
		}
		detail = missing
	}
	return BadCause("Metrics cannot be aggregated", err.Reason, detail)
}

// explanations are shown above the description to clients that do not accept JSON.
var explanations = map[int]string{
	http.StatusBadRequest:            "The request was not understood.",
	http.StatusUnauthorized:          "This needs credentials: send a user name by basic authentication.",
	http.StatusForbidden:             "Access was denied to this resource.",
	http.StatusNotFound:              "The resource could not be found.",
	http.StatusMethodNotAllowed:      "This method cannot be used here.",
	http.StatusNotAcceptable:         "This is available as application/json only.",
	http.StatusRequestTimeout:        "The request took too long to arrive.",
	http.StatusConflict:              "The request conflicts with what is stored.",
	http.StatusPreconditionFailed:    "The resource is not as the request's headers want it.",
	http.StatusRequestEntityTooLarge: "The body is too large.",
	http.StatusUnprocessableEntity:   "The query needs more than the server has.",
	http.StatusUnsupportedMediaType:  "The body has to be of another type: see the Content-Type header.",
	http.StatusTooManyRequests:       "There were too many requests.",
	http.StatusInternalServerError:   "The server failed to answer.",
	http.StatusServiceUnavailable:    "The server cannot answer at the moment.",
	http.StatusGatewayTimeout:        "The request took more time than it has.",
	http.StatusInsufficientStorage:   "The server has no space left.",
}

// Description is the detail as text.
func (e *Error) Description() string {
	switch d := e.Detail.(type) {
	case nil:
		return ""
	case string:
		return d
	}
	return strings.TrimSpace(string(text.AppendJSON(nil, e.Detail)))
}

// noteAfter sets the header that says when the client may try again.
func (e *Error) noteAfter(header http.Header) {
	if e.After > 0 {
		header.Set("Retry-After", strconv.Itoa(int(math.Ceil(e.After.Seconds()))))
	}
}

// write answers r with e, in the form that it accepts: HTML for a browser, which names that and not JSON; JSON for
// clients that accept it; else text, also for clients without an Accept header.
func (e *Error) write(w http.ResponseWriter, r *http.Request) {
	e = &Error{Status: e.Status, Detail: Bounded(e.Detail), After: e.After}
	title := http.StatusText(e.Status)
	header := w.Header()
	e.noteAfter(header)
	if e.Status == http.StatusServiceUnavailable && header.Get("Retry-After") == "" {
		header.Set("Retry-After", "1")
	}
	var body []byte
	switch accept := strings.ToLower(r.Header.Get("Accept")); {
	case strings.Contains(accept, "text/html") && !strings.Contains(accept, "application/json"):
		header.Set("Content-Type", "text/html; charset=UTF-8")
		body = fmt.Appendf(nil,
			"<html>\n <head><title>%d %s</title></head>\n <body>\n  <h1>%d %s</h1>\n  <p>%s</p>\n  <p>%s</p>\n </body>\n</html>\n", e.Status, title, e.Status, title, explanations[e.Status], html.EscapeString(e.Description()))
	case accept != "" && AcceptsJSON(r):
		header.Set("Content-Type", "application/json")
		detail := cmp.Or[any](e.Detail, "")
		body = text.AppendJSON(nil, struct {
			Code        int    `json:"code"`
			Title       string `json:"title"`
			Description any    `json:"description"`
		}{e.Status, title, detail})
	default:
		header.Set("Content-Type", "text/plain; charset=UTF-8")
		body = fmt.Appendf(nil, "%d %s\n\n%s\n\n%s\n", e.Status, title, explanations[e.Status], e.Description())
	}
	header.Set("X-Content-Type-Options", "nosniff")
	WriteBody(w, e.Status, body)
}

// Refuse answers a request with an error, as the API does.
func Refuse(w http.ResponseWriter, r *http.Request, err error) { AsError(err).write(w, r) }
