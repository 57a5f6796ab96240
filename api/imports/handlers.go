package imports

import (
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/prometheus/prometheus/model/labels"

	"github.com/gnocco-db/gnocco/api/auth"
	"github.com/gnocco-db/gnocco/api/web"
	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/ingest"
	"github.com/gnocco-db/gnocco/ingest/series"
	"github.com/gnocco-db/gnocco/internal/budget"
)

// Handlers serve imports.
type Handlers struct {
	*web.Env
	writer *series.Writer
	pool   budget.Pool[body]
}

// New returns handlers whose measures go to a writer.
func New(env *web.Env, writer *series.Writer) *Handlers {
	a := &Handlers{Env: env, writer: writer}
	a.pool.Most = env.Budget.MostKept()
	return a
}

// Routes are VictoriaMetrics' and the Pushgateway's.
func (a *Handlers) Routes(at func(method, path string, h http.HandlerFunc)) {
	at("POST", "/api/v1/import", a.store("import_json", http.StatusNoContent, fromQuery, (*body).decodeJSON))
	at("POST", "/api/v1/import/prometheus", a.store("import_text", http.StatusNoContent, fromQuery, (*body).decodeText))
	at("POST", "/api/v1/import/collectd", a.store("import_collectd", http.StatusNoContent, fromQuery,
		(*body).decodeCollectd))
	for _, method := range []string{"POST", "PUT"} {
		at(method, "/metrics/*", a.store("pushgateway", http.StatusOK, fromPath, (*body).decodePush))
	}
	at("DELETE", "/metrics/*", a.answering(deleteGroup))
}

// body is a request's text, and what becomes of it.
type body struct {
	text  []byte
	batch series.Batch
	lines []int // of the batch's rows

	kind     string        // of the content
	labels   series.Labels // these replace the series' own ones
	scratch  series.Labels // of one series
	now      carbonara.Timestamp
	latest   carbonara.Timestamp // that a measure may have
	refused  web.RefusedLines
	line     int // the one being read, from 1; of protobuf, the series or the refused type
	total    int // lines with content
	metadata []series.Metadata
	kinds    map[string]string   // of names, by the first TYPE of each
	symbols  *labels.SymbolTable // of parsers
}

func (b *body) reset() {
	*b = body{text: b.text[:0], batch: b.batch, lines: b.lines[:0], scratch: b.scratch[:0],
		symbols: labels.NewSymbolTable()}
	b.batch.Reset()
	b.batch.Read = b.readHead
}

// add adds a measure of b.scratch to the batch.
func (b *body) add(at carbonara.Timestamp, value float64) error {
	b.scratch.SetAll(b.labels)
	return b.noted(b.batch.Add(b.scratch, at, value))
}

// noted notes the line of the batch's new row, if there is one, and returns the error of adding it.
func (b *body) noted(err error) error {
	if len(b.lines) < b.batch.Len() {
		b.lines = append(b.lines, b.line)
	}
	return err
}

// fromMillis returns the time of milliseconds since 1970.
func fromMillis(ms int64) (carbonara.Timestamp, error) {
	if ms < 0 || ms > math.MaxInt64/1_000_000 {
		return 0, fmt.Errorf("timestamp %d is not between 1970 and 2262, in milliseconds", ms)
	}
	return carbonara.Timestamp(ms * 1_000_000), nil
}

// fromQuery reads VictoriaMetrics' parameters: extra_label=NAME=VALUE, and timestamp for lines without one.
func fromQuery(r *http.Request, b *body) error {
	query := r.URL.Query()
	for _, extra := range query["extra_label"] {
		name, value, ok := strings.Cut(extra, "=")
		if !ok || name == "" {
			return web.BadRequest("extra_label has to be NAME=VALUE, not %.100q", extra)
		}
		if err := b.labels.Add(name, value); err != nil {
			return err
		}
	}
	if text := query.Get("timestamp"); text != "" {
		ms, err := strconv.ParseInt(text, 10, 64)
		if err == nil {
			b.now, err = fromMillis(ms)
		}
		if err != nil {
			return web.BadRequest("timestamp has to be milliseconds since 1970, not %.100q", text)
		}
	}
	return nil
}

// answering serves h. Errors are one line of text, unless the client asks for JSON.
func (a *Handlers) answering(h web.UserHandler) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		err := a.WithIdentity(h)(w, r)
		switch {
		case err == nil:
		case strings.Contains(r.Header.Get("Accept"), "application/json"):
			a.Fail(w, r, err)
		default:
			a.FailAs(w, r, err, func(status int, text string) { http.Error(w, text, status) })
		}
	}
}

// store serves one form of import: prepare reads the request's labels, decode its body.
func (a *Handlers) store(protocol string, status int, prepare func(*http.Request, *body) error,
	decode func(*body) error) http.HandlerFunc {
	return a.answering(func(w http.ResponseWriter, r *http.Request, who *auth.Identity) (err error) {
		b := a.pool.Get()
		defer func() { a.pool.Put(b, cap(b.text)+b.batch.Bytes()+8*cap(b.lines)) }()
		b.reset()
		b.now, b.kind = carbonara.FromTime(a.Now()), r.Header.Get("Content-Type")
		b.latest = a.writer.Latest(ingest.MaxFutureOfSenders)
		if err := prepare(r, b); err != nil {
			return err
		}
		// A line of JSON is copied while it is read.
		if b.text, err = a.ReadBody(w, r, a.MaxBodyBytes, budget.Measures, 2, b.text); err != nil {
			return err
		}
		b.batch.Acquire = web.AcquireFor(r.Context(), budget.Measures)
		defer func() { b.batch.Acquire = nil }()
		if err := decode(b); err != nil {
			return err
		}
		a.writer.Describe(r.Context(), who.User, b.metadata) // types decide on archive policies
		push := series.Push{Creator: who.User, Rights: a.RightsOf(who), Protocol: protocol,
			Scope: string(b.labels.Append(nil)), Rows: &b.batch, MaxFuture: ingest.MaxFutureOfSenders,
			Drop: func(row, _ int, err error) { b.refused.Drop(b.lines[row], err) }}
		if _, err := a.writer.Append(r.Context(), &push, &b.batch.Named); err != nil {
			return err
		}
		if b.refused.Unread > 0 {
			a.writer.Refuse(protocol, "unreadable", b.refused.Unread, b.refused.Text(b.total))
		}
		if err := b.refused.Err(b.total); err != nil {
			return err
		}
		w.WriteHeader(status)
		return nil
	})
}

var errJob = errors.New("the path has to be /metrics/job/JOB, and may go on by /LABEL/VALUE")

// escaped returns the path below /metrics/ as it came.
func escaped(r *http.Request) string {
	_, below, _ := strings.Cut(r.URL.EscapedPath(), "/metrics/")
	return below
}

// fromPath reads the labels of a group of the Pushgateway.
func fromPath(r *http.Request, b *body) error {
	parts := strings.Split(escaped(r), "/")
	if len(parts)%2 != 0 {
		return web.BadRequest("%s", errJob)
	}
	for i := 0; i < len(parts); i += 2 {
		name, err := url.PathUnescape(parts[i])
		if err != nil {
			return web.BadRequest("%s", err)
		}
		value, err := url.PathUnescape(parts[i+1])
		if err != nil {
			return web.BadRequest("%s", err)
		}
		name, encoded := strings.CutSuffix(name, "@base64")
		if encoded {
			if value, err = decodeBase64(value); err != nil {
				return web.BadRequest("The value of label %.100q is not base64: %s", name, err)
			}
		}
		if i == 0 && (name != "job" || value == "") {
			return web.BadRequest("%s", errJob)
		}
		if name == "" || strings.HasPrefix(name, "__") {
			return web.BadRequest("%.100q cannot be a label of a group", name)
		}
		if err := b.labels.Add(name, value); err != nil {
			return err
		}
	}
	return nil
}

// deleteGroup accepts the end of a group, which needs no work: a series that is pushed no more ends by itself.
func deleteGroup(w http.ResponseWriter, r *http.Request, _ *auth.Identity) error {
	if err := fromPath(r, new(body)); err != nil {
		return err
	}
	w.WriteHeader(http.StatusAccepted)
	return nil
}
