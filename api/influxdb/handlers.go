package influxdb

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"

	"github.com/gnocco-db/gnocco/api/auth"
	"github.com/gnocco-db/gnocco/api/influxdb/lineprotocol"
	"github.com/gnocco-db/gnocco/api/web"
	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/ingest"
	"github.com/gnocco-db/gnocco/ingest/series"
	"github.com/gnocco-db/gnocco/internal/budget"
	"github.com/gnocco-db/gnocco/internal/version"
	"github.com/gnocco-db/gnocco/model"
)

const (
	defaultDatabase = "influxdb"
	defaultTag      = "host"
	tagHeader       = "X-Gnocchi-InfluxDB-Tag-Resource-ID"

	maxQueryBytes = 1 << 20
)

// fieldBytes is what a field of InfluxDB's lines takes: its time and value, where its names stand, its metric and its
// place among the metrics, and its measure.
const fieldBytes = 16 + 24 + 32 + web.MeasureBytes

// scratch is the memory that a write of lines needs.
type scratch struct {
	body  []byte
	batch ingest.NamedBatch
	rows  rows
}

func (s *scratch) bytes() int { return cap(s.body) + s.batch.Bytes() + s.rows.lines.Bytes() }

// Handlers serve InfluxDB's protocol.
type Handlers struct {
	*web.Env
	ingester *ingest.Ingester
	writer   *series.Writer
	pool     budget.Pool[scratch]
}

// New returns handlers whose measures go to an ingester, and labelled ones to a writer.
func New(env *web.Env, ingester *ingest.Ingester, writer *series.Writer) *Handlers {
	a := &Handlers{Env: env, ingester: ingester, writer: writer}
	a.pool.Most = env.Budget.MostKept()
	return a
}

// Routes are Gnocchi's, whose tags become parts of names, and InfluxDB's own.
func (a *Handlers) Routes(at func(method, path string, h http.HandlerFunc)) {
	at("GET", "/v1/influxdb/ping", a.Public(a.ping))
	at("HEAD", "/v1/influxdb/ping", a.Public(a.ping))
	at("POST", "/v1/influxdb/query", a.AuthenticatedAnyType(a.query))
	at("POST", "/v1/influxdb/write", a.AuthenticatedAnyType(a.write))
	for _, method := range []string{"GET", "HEAD"} {
		at(method, "/ping", a.Public(a.ping))
		at(method, "/health", a.Public(a.health))
	}
	at("POST", "/query", a.likeInflux(a.querySeries))
	at("POST", "/write", a.likeInflux(a.writeSeries("db", "")))
	at("POST", "/api/v2/write", a.likeInflux(a.writeSeries("bucket", "")))
	at("POST", "/api/v3/write_lp", a.likeInflux(a.writeSeries("db", "auto")))
}

// ping answers InfluxDB's clients that the server is up, also without credentials.
func (a *Handlers) ping(w http.ResponseWriter, _ *http.Request) error {
	w.Header().Set("X-Influxdb-Version", "Gnocco "+version.Number)
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// query creates a resource type of a database's name. There is no other query.
func (a *Handlers) query(w http.ResponseWriter, r *http.Request, who *auth.Identity) error {
	if err := a.parseForm(w, r); err != nil {
		return err
	}
	if !r.Form.Has("q") {
		w.WriteHeader(http.StatusNoContent)
		return nil
	}
	name, ok := ParseCreateDatabase(r.Form.Get("q"))
	if !ok {
		return &web.Error{Status: http.StatusNotImplemented,
			Detail: web.Cause{Cause: "Not implemented error", Reason: "Query not implemented", Detail: "q"}}
	}
	if err := a.Enforce(who, "create resource type", web.NameTarget(name)); err != nil {
		return err
	}
	t, err := model.NewResourceType(name, nil)
	if err != nil {
		return web.BadArgument("q", err.Error())
	}
	if err := a.Index.CreateResourceType(r.Context(), t); err != nil && !errors.Is(err, model.ErrExists) {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

func (a *Handlers) parseForm(w http.ResponseWriter, r *http.Request) error {
	err := a.ParseForm(w, r, min(a.MaxBodyBytes, maxQueryBytes))
	if err != nil && !errors.As(err, new(*http.MaxBytesError)) && !errors.As(err, new(*web.Error)) {
		return web.BadRequest("The form could not be read: %s", err)
	}
	return err
}

// write accepts lines. Resources are of the type that the database's creation made.
func (a *Handlers) write(w http.ResponseWriter, r *http.Request, who *auth.Identity) error {
	query := r.URL.Query()
	database := cmp.Or(query.Get("db"), defaultDatabase)
	precision, ok := lineprotocol.ParsePrecision(query.Get("precision"))
	if !ok {
		return web.BadArgument("precision", "Unknown precision")
	}
	s := a.pool.Get()
	defer func() { a.pool.Put(s, s.bytes()) }()
	factor, err := a.readBody(w, r, s)
	if err != nil {
		return err
	}
	if len(s.body) == 0 { // with any database, as in Gnocchi
		w.WriteHeader(http.StatusNoContent)
		return nil
	}
	if _, err := a.Index.ResourceType(database); err != nil {
		return err
	}
	var refused web.RefusedLines
	s.rows.lines.TextAlone = true
	if err := a.decode(r.Context(), s, factor, precision, &refused); err != nil {
		return err
	}
	s.rows.tag = cmp.Or(r.Header.Get(tagHeader), defaultTag)
	p := ingest.Protocol{ResourceType: database, Scope: s.rows.tag, MaxFuture: ingest.MaxFutureOfSenders}
	p.Drop = func(row int, err error) { refused.Drop(s.rows.lines.Line(row), err) }
	p.Replaced = func(row, _ int) { p.Drop(row, errReplaced) }
	if err := a.ingester.AppendNamed(r.Context(), who.User, a.RightsOf(who), &s.rows, &p, &s.batch); err != nil {
		return err
	}
	if refused.Other != nil {
		return refused.Other
	}
	if refused.Count() > 0 {
		return refuseLines(w, &refused, s.rows.lines.Total)
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// decode decodes the body, whose memory is factor times its size.
func (a *Handlers) decode(ctx context.Context, s *scratch, factor web.Factor, precision lineprotocol.Precision,
	refused *web.RefusedLines) error {
	body, account := int64(len(s.body)), budget.Of(ctx)
	s.rows.lines.Paid = int(factor.Of(body)-body) / fieldBytes
	s.rows.lines.Grow(s.rows.lines.Paid)
	s.rows.lines.Acquire = func(n int) error { return account.Acquire(budget.Measures, fieldBytes*int64(n)) }
	err := s.rows.lines.Decode(s.body, precision, carbonara.FromTime(a.Now()), refused.Unreadable)
	s.rows.lines.Acquire = nil
	switch {
	case errors.Is(err, lineprotocol.ErrTooLarge):
		return web.BadRequest("%s", err)
	case err != nil:
		return err
	}
	account.Release(budget.Measures, fieldBytes*int64(s.rows.lines.Paid-s.rows.lines.Len()))
	return nil
}

// sampleBytes is how much of a large body tells how many fields all of it has.
const sampleBytes = 64 << 10

// readBody reads the body. It reserves factor times the body's size: memory for the body and for its measures, which
// the beginning of a plain body estimates. The reservation precedes the rest of the body, so large requests wait for
// each other before they are read.
func (a *Handlers) readBody(w http.ResponseWriter, r *http.Request, s *scratch) (
	factor web.Factor, err error) {
	factor = web.PlainFactor
	encoding := r.Header.Get("Content-Encoding")
	plain := encoding == "" || strings.EqualFold(encoding, "identity")
	if plain && (r.ContentLength > sampleBytes || r.ContentLength < 0) {
		sample := make([]byte, sampleBytes)
		n, _ := io.ReadFull(r.Body, sample) // who reads on gets the error
		if sample = sample[:n]; n == sampleBytes {
			factor += factorOf(sample)
		}
		r.Body = struct {
			io.Reader
			io.Closer
		}{io.MultiReader(bytes.NewReader(sample), r.Body), r.Body}
	}
	s.body, err = a.ReadBody(w, r, a.MaxBodyBytes, budget.Measures, factor, s.body[:0])
	return factor, err
}

// factorOf returns what the fields of lines take, as a multiple of the lines.
func factorOf(lines []byte) web.Factor {
	return web.Factor(fieldBytes*lineprotocol.MostMeasures(lines)) / web.Factor(max(1, len(lines)))
}

// rows are a body's fields.
type rows struct {
	lines lineprotocol.Lines
	tag   string // whose value names the resource
}

// Len implements ingest.Rows, as all of these do.
func (r *rows) Len() int { return r.lines.Len() }

func (r *rows) Columns() ([]carbonara.Timestamp, []float64) {
	return r.lines.Timestamps, r.lines.Values
}

func (r *rows) Span(row int) (from, to int)          { return row, row + 1 }
func (r *rows) AppendKey(dst []byte, row int) []byte { return r.lines.AppendKey(dst, row) }

// ListEnd implements ingest.ListedRows, as all of these do.
func (r *rows) ListEnd(row int) int { return r.lines.LineEnd(row) }

func (r *rows) AppendListKey(dst []byte, row, end int) []byte {
	return r.lines.AppendLineKey(dst, row, end)
}

func (r *rows) Name(row int) (*ingest.Name, error) {
	target, err := r.lines.Target(row, r.tag)
	if err != nil {
		return nil, r.fault(err)
	}
	return &ingest.Name{Resource: target.Resource, Metric: target.Metric}, nil
}

// fault words what is wrong with a line as Gnocchi does, and beside that why.
func (r *rows) fault(err error) *web.Error {
	var line *lineprotocol.LineError
	cause := web.Cause{Cause: "Value error", Detail: "line", Reason: err.Error()}
	switch {
	case errors.As(err, &line):
		return web.UnreadableLine(line.Line, line.Reason)
	case errors.Is(err, lineprotocol.ErrNoTag):
		cause.Detail, cause.Reason = "key", fmt.Sprintf("Unable to find key `%s' in tags", r.tag)
	}
	return &web.Error{Status: http.StatusBadRequest, Detail: cause, Err: err}
}

var errReplaced error = &model.FieldError{Field: "line", Reason: "a field has another value for the same time later"}

// partial begins the answer to refused lines: Telegraf drops a batch by it.
const partial = "partial write: "

// refuseLines refuses lines: with the status and description of the first, as Gnocchi, which knows no other, and with
// 400 where lines are stored. The answer is JSON with an "error", even if the client accepts other types: Telegraf
// repeats a batch until it gets JSON.
func refuseLines(w http.ResponseWriter, refused *web.RefusedLines, total int) error {
	first, status := refused.Fault(), http.StatusBadRequest
	if refused.Count() == total {
		status = first.Status
	}
	return web.WriteJSON(w, status, struct {
		Code        int    `json:"code"`
		Title       string `json:"title"`
		Description any    `json:"description"`
		Error       string `json:"error"`
	}{status, http.StatusText(status), web.Bounded(first.Detail), partial + refused.Text(total)})
}

var createDatabase = regexp.MustCompile(`(?is)^\s*create\s+database\s+` +
	`(?:"((?:[^"\\]|\\.)+)"|([a-z_][a-z0-9_]*))\s*(?:;\s*|with\s.*)?$`)

var unescapeQuoted = regexp.MustCompile(`\\(.)`)

// ParseCreateDatabase returns the name in a query that creates a database; no other query is understood. How long the
// database would keep its data is ignored: archive policies say that.
func ParseCreateDatabase(query string) (name string, ok bool) {
	groups := createDatabase.FindStringSubmatch(query)
	if groups == nil {
		return "", false
	}
	if groups[1] != "" {
		return unescapeQuoted.ReplaceAllString(groups[1], "$1"), true
	}
	return strings.TrimSpace(groups[2]), true
}
