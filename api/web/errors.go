package web

import (
	"context"
	"errors"
	"fmt"
	"html"
	"net/http"
	"strings"

	"github.com/gnocco-db/gnocco/api/auth"
	"github.com/gnocco-db/gnocco/api/measures"
	"github.com/gnocco-db/gnocco/api/text"
	"github.com/gnocco-db/gnocco/ingest"
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
	Detail any   // the description: a string, a Cause, or nil
	Err    error // what lies behind it, for the log; may be nil
}

// Cause is a description in parts. Which parts there are depends on the fault, as in Gnocchi.
type Cause struct {
	Cause   string   `json:"cause"`
	Reason  string   `json:"reason,omitempty"`
	Detail  any      `json:"detail"`
	Element []string `json:"element,omitempty"` // path to the fault, where it goes deeper than Detail
}

// Error implements error.
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

// Unwrap returns what lies behind e.
func (e *Error) Unwrap() error { return e.Err }

func BadRequest(format string, args ...any) *Error {
	return &Error{Status: http.StatusBadRequest, Detail: fmt.Sprintf(format, args...)}
}

func NotFound(format string, args ...any) *Error {
	return &Error{Status: http.StatusNotFound, Detail: fmt.Sprintf(format, args...)}
}

// BadArgument is about one parameter of the query.
func BadArgument(name, reason string) *Error {
	return badValue("Argument value error", name, reason)
}

// BadAttribute is about one attribute of an object.
func BadAttribute(name, reason string) *Error { return badValue("Attribute value error", name, reason) }

func badValue(cause, name, reason string) *Error {
	return &Error{Status: http.StatusBadRequest, Detail: Cause{Cause: cause, Reason: reason, Detail: name}}
}

// ErrForbidden's explanation is what Gnocchi's clients look for.
var ErrForbidden = &Error{Status: http.StatusForbidden}

// AsError gives every error its status. What it does not know is a fault of ours: 500, and no detail for the client.
func AsError(err error) *Error {
	var known *Error
	var object *model.ObjectError
	var field *model.FieldError
	var decode *measures.DecodeError
	var tooLarge *http.MaxBytesError
	var neverFits *budget.TooLargeError
	var logins *auth.TooManyLoginsError
	var resourceID *ingest.ResourceIDError
	var resourceType *ingest.ResourceTypeError
	var noPolicy *ingest.NoPolicyError
	var attribute *ingest.AttributeError
	var future *ingest.FutureError
	var argument *query.ArgumentError
	var tooMany *correlations.TooManyValuesError
	var rows *query.TooManyRowsError
	var predicate *query.PredicateError
	var unaggregable *query.UnaggregableError
	var aggregation *query.UnknownAggregationError
	var damaged *model.DamagedError
	var backfill *model.BackfillError
	switch {
	case errors.As(err, &known):
		return known
	case errors.Is(err, auth.ErrNoCredentials):
		return &Error{Status: http.StatusUnauthorized}
	case errors.As(err, &logins):
		return &Error{Status: http.StatusTooManyRequests, Err: err,
			Detail: "Too many wrong passwords came from your address. Please try again later."}
	case errors.Is(err, auth.ErrKeystone):
		return &Error{Status: http.StatusServiceUnavailable,
			Detail: "Keystone cannot be asked about the token. Please try again.", Err: err}
	case errors.As(err, &resourceID):
		return badValue("Value error", "id", resourceID.Reason)
	case errors.As(err, &resourceType):
		return &Error{Status: http.StatusConflict,
			Detail: Cause{Cause: "Resource already exists", Detail: resourceType.ID.String()}}
	case errors.As(err, &noPolicy):
		return BadRequest(
			"No archive policy name specified and no archive policy rule found matching the metric name %s",
			noPolicy.Metric)
	case errors.As(err, &attribute):
		return BadAttribute(attribute.Name, attribute.Reason)
	case errors.As(err, &future):
		return &Error{Status: http.StatusBadRequest, Err: err, Detail: Cause{
			Cause:  "Measure in the future",
			Reason: fmt.Sprintf("A measure may be %s ahead of the server's clock at most", future.Most),
			Detail: futureMeasure{future.Metric, ShowTime(future.Timestamp)},
		}}
	case errors.As(err, &decode):
		return &Error{Status: http.StatusBadRequest, Detail: decodeCause(decode), Err: err}
	case errors.Is(err, correlations.ErrBusy):
		return &Error{Status: http.StatusServiceUnavailable,
			Detail: "Too many correlations are under way. Please try again later."}
	case errors.As(err, &neverFits) && neverFits.Use == budget.Answers:
		return &Error{Status: http.StatusUnprocessableEntity, Err: err, Detail: Cause{
			Cause: "The query needs too much memory",
			Reason: fmt.Sprintf("It needs %d bytes or more, and one query may have %d of --memory-limit: %s",
				neverFits.Need, neverFits.Most,
				"ask for fewer metrics, a shorter time or a coarser granularity, or raise the limit"),
			Detail: neededMemory{neverFits.Need, neverFits.Most},
		}}
	case errors.As(err, &neverFits):
		return &Error{Status: http.StatusRequestEntityTooLarge, Detail: fmt.Sprintf(
			"The body, and what it becomes in memory, takes more than the %d bytes that one request may have",
			neverFits.Most), Err: err}
	case errors.Is(err, budget.ErrExhausted):
		return &Error{Status: http.StatusServiceUnavailable,
			Detail: "Other requests use the memory that this one needs. Please try again later.", Err: err}
	case errors.As(err, &tooMany):
		return &Error{Status: http.StatusBadRequest, Detail: Cause{
			Cause: "Too many values", Reason: "Ask for fewer metrics, a shorter time or a coarser granularity",
			Detail: tooMany.Most,
		}}
	case errors.As(err, &rows):
		return &Error{Status: http.StatusBadRequest, Detail: Cause{
			Cause:  "Too many rows",
			Reason: "Ask for it in parts, by start and stop, or for fewer metrics or a coarser granularity",
			Detail: rows.Most,
		}}
	case errors.As(err, &argument):
		return BadArgument(argument.Argument, argument.Reason)
	case errors.As(err, &predicate):
		return Node{Path: predicate.Path}.Fault("%s", predicate.Reason)
	case errors.As(err, &unaggregable):
		return unaggregableMetrics(unaggregable)
	case errors.As(err, &aggregation):
		return &Error{Status: http.StatusNotFound, Detail: Cause{
			Cause:  "Metrics with unknown aggregation",
			Detail: [][2]string{{aggregation.Metric.String(), aggregation.Aggregation}},
		}}
	case errors.As(err, &tooLarge):
		return &Error{Status: http.StatusRequestEntityTooLarge,
			Detail: fmt.Sprintf("A body holds %d bytes at most", tooLarge.Limit)}
	case errors.Is(err, incoming.ErrNoSpace):
		return &Error{Status: http.StatusInsufficientStorage,
			Detail: "No space is left to accept measures. Please try again later.", Err: err}
	case errors.As(err, &damaged):
		cause, reason := unservedStore(damaged)
		return &Error{Status: http.StatusServiceUnavailable,
			Detail: Cause{Cause: cause, Reason: reason, Detail: damaged.Store}, Err: err}
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return &Error{Status: http.StatusServiceUnavailable,
			Detail: "The operation took too long. Please try again.", Err: err}
	case errors.Is(err, model.ErrUnavailable):
		return &Error{Status: http.StatusServiceUnavailable,
			Detail: "Not available at the moment. Please try again.", Err: err}
	case errors.As(err, &object):
		return &Error{Status: statusOf(object.Kind), Detail: object.Error(), Err: err}
	case errors.As(err, &backfill):
		return &Error{Status: http.StatusBadRequest, Detail: backfill.Reason, Err: err}
	case errors.As(err, &field):
		return &Error{Status: http.StatusBadRequest, Detail: field.Error(), Err: err}
	}
	return &Error{Status: http.StatusInternalServerError, Err: err}
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
	var object *model.ObjectError
	if errors.As(err, &object) {
		return BadRequest("%s", object.Error())
	}
	return err
}

// RefusedCause is refused, with the object's ID apart from the sentence.
func RefusedCause(err error) error {
	var object *model.ObjectError
	if errors.As(err, &object) {
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
	return &Error{Status: http.StatusBadRequest, Detail: Cause{Cause: "Metrics cannot be aggregated",
		Reason: err.Reason, Detail: detail}}
}

// explanations are shown above the description to who does not take JSON.
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
	http.StatusTooManyRequests:       "Too many requests came from your address.",
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

// write answers r with e, in the form that it accepts: HTML for a browser, which names that and not JSON; JSON for who
// takes it; else text, as for who says nothing.
func (e *Error) write(w http.ResponseWriter, r *http.Request) {
	e = &Error{Status: e.Status, Detail: Bounded(e.Detail)}
	title := http.StatusText(e.Status)
	header := w.Header()
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
		detail := e.Detail
		if detail == nil {
			detail = ""
		}
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
