package api

import (
	"cmp"
	"compress/gzip"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"gnocco/api/influxdb"
	"gnocco/carbonara"
	"gnocco/model"
)

const (
	defaultInfluxDatabase = "influxdb"
	defaultInfluxTag      = "host"
	influxTagHeader       = "X-Gnocchi-InfluxDB-Tag-Resource-ID"

	maxInfluxQueryBytes = 1 << 20
)

// influxScratch is the memory that a write of lines needs.
type influxScratch struct {
	namedScratch
	rows influxRows
}

func (s *influxScratch) bytes() int { return s.namedScratch.bytes() + s.rows.lines.Bytes() }

// pingInflux tells InfluxDB's clients that we are there, also without credentials.
func (a *api) pingInflux(w http.ResponseWriter, _ *http.Request) error {
	w.Header().Set("X-Influxdb-Version", "Gnocco "+a.Build)
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// postInfluxQuery creates a resource type of a database's name. There is no other query.
func (a *api) postInfluxQuery(w http.ResponseWriter, r *http.Request, who *Identity) error {
	r.Body = http.MaxBytesReader(w, r.Body, min(a.MaxBodyBytes, maxInfluxQueryBytes))
	if err := r.ParseForm(); err != nil {
		var tooLarge *http.MaxBytesError
		if errors.As(err, &tooLarge) {
			return err
		}
		return badRequest("The form could not be read: %s", err)
	}
	if !r.Form.Has("q") {
		w.WriteHeader(http.StatusNoContent)
		return nil
	}
	name, ok := influxdb.ParseCreateDatabase(r.Form.Get("q"))
	if !ok {
		return &Error{Status: http.StatusNotImplemented,
			Detail: Cause{Cause: "Not implemented error", Reason: "Query not implemented", Detail: "q"}}
	}
	if err := a.enforce(who, "create resource type", nameTarget(name)); err != nil {
		return err
	}
	t, err := model.NewResourceType(name, nil)
	if err != nil {
		return badArgument("q", err.Error())
	}
	if err := a.Index.CreateResourceType(r.Context(), t); err != nil && !errors.Is(err, model.ErrExists) {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// postInfluxWrite accepts lines. Resources are of the type that the database's creation made.
func (a *api) postInfluxWrite(w http.ResponseWriter, r *http.Request, who *Identity) error {
	query := r.URL.Query()
	database := cmp.Or(query.Get("db"), defaultInfluxDatabase)
	precision, ok := influxdb.ParsePrecision(query.Get("precision"))
	if !ok {
		return badArgument("precision", "Unknown precision")
	}
	if _, err := a.Index.ResourceType(database); err != nil {
		return err
	}
	s := a.influx.get()
	defer func() { a.influx.put(s, s.bytes()) }()
	var err error
	if s.body, err = a.readInfluxBody(w, r, s.body[:0]); err != nil {
		return err
	}
	s.rows.tag = cmp.Or(r.Header.Get(influxTagHeader), defaultInfluxTag)
	if err := s.rows.lines.Decode(s.body, precision, carbonara.FromTime(a.Now())); err != nil {
		return s.rows.fault(err)
	}
	p := protocol{resourceType: database, scope: s.rows.tag}
	if err := a.acceptNamed(r.Context(), who, &s.rows, &p, &s.namedScratch); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// readInfluxBody appends the body to dst, uncompressed: InfluxDB's clients may send it with gzip.
func (a *api) readInfluxBody(w http.ResponseWriter, r *http.Request, dst []byte) ([]byte, error) {
	switch strings.ToLower(r.Header.Get("Content-Encoding")) {
	case "", "identity":
		return readBody(w, r, a.MaxBodyBytes, dst)
	case "gzip":
	default:
		return dst, &Error{Status: http.StatusUnsupportedMediaType, Detail: "The Content-Encoding has to be gzip or identity"}
	}
	unreadable := func(err error) error {
		var tooLarge *http.MaxBytesError
		if errors.As(err, &tooLarge) {
			return err
		}
		return &Error{Status: http.StatusBadRequest, Detail: "The body could not be uncompressed", Err: err}
	}
	unzip, err := gzip.NewReader(http.MaxBytesReader(w, r.Body, a.MaxBodyBytes))
	if err != nil {
		return dst, unreadable(err)
	}
	plain := *r
	plain.Body, plain.ContentLength = unzip, -1
	body, err := readBody(w, &plain, a.MaxBodyBytes, dst)
	if err != nil {
		return body, unreadable(err)
	}
	return body, unzip.Close()
}

// influxRows are a body's fields.
type influxRows struct {
	lines influxdb.Lines
	tag   string // whose value names the resource
}

// Len implements namedRows, as all of these do.
func (r *influxRows) Len() int { return r.lines.Len() }

// Columns is of namedRows.
func (r *influxRows) Columns() ([]carbonara.Timestamp, []float64) {
	return r.lines.Timestamps, r.lines.Values
}

// Span is of namedRows.
func (r *influxRows) Span(row int) (from, to int) { return row, row + 1 }

// AppendKey is of namedRows.
func (r *influxRows) AppendKey(dst []byte, row int) []byte { return r.lines.AppendKey(dst, row) }

// Name is of namedRows.
func (r *influxRows) Name(row int) (*metricName, error) {
	target, err := r.lines.Target(row, r.tag)
	if err != nil {
		return nil, r.fault(err)
	}
	return &metricName{resource: target.Resource, metric: target.Metric}, nil
}

// fault words what is wrong with a line as Gnocchi does, and beside that why.
func (r *influxRows) fault(err error) *Error {
	var line *influxdb.LineError
	cause := Cause{Cause: "Value error", Detail: "line", Reason: err.Error()}
	switch {
	case errors.As(err, &line):
		cause.Reason = fmt.Sprintf("Unable to parse line %d: %s", line.Line, line.Reason)
	case errors.Is(err, influxdb.ErrNoTag):
		cause.Detail, cause.Reason = "key", fmt.Sprintf("Unable to find key `%s' in tags", r.tag)
	}
	return &Error{Status: http.StatusBadRequest, Detail: cause, Err: err}
}
