package prometheus

import (
	"bytes"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"sync"

	"github.com/gnocco-db/gnocco/api/auth"
	"github.com/gnocco-db/gnocco/api/series"
	"github.com/gnocco-db/gnocco/api/web"
	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/ingest"
	"github.com/gnocco-db/gnocco/internal/budget"
	"github.com/gnocco-db/gnocco/model"
)

const (
	resourceType   = "prometheus" // resource type
	maxLabelLength = 512          // of a label's value, in characters

	// maxPrometheusBytes is the most that a body may be when uncompressed; decoded it takes several times that.
	// Prometheus sends some hundred kilobytes.
	maxPrometheusBytes = 32 << 20
)

// attributes are those of the resource type, which is created when it is first needed.
func attributes() []*model.Attribute {
	return []*model.Attribute{
		{Name: "instance", Kind: model.KindString, Required: true, MinLength: 1, MaxLength: maxLabelLength},
		{Name: "job", Kind: model.KindString, Required: true, MinLength: 1, MaxLength: maxLabelLength},
	}
}

// scratch is the memory that a remote write needs.
type scratch struct {
	body  []byte
	batch ingest.NamedBatch
	rows  gnocchiRows
	two   WriteRequest2
}

func (s *scratch) bytes() int {
	return cap(s.body) + s.batch.Bytes() + s.rows.request.Bytes() + s.two.Batch.Bytes() +
		bytesPerSymbol*cap(s.two.symbols)
}

// Handlers serve Prometheus' remote write.
type Handlers struct {
	*web.Env
	ingester  *ingest.Ingester
	pool      budget.Pool[scratch]
	collision sync.Once // said of Gnocchi's mapping of Prometheus' series
	writer    *series.Writer
}

// New returns handlers whose measures go to an ingester, and labelled ones to a writer.
func New(env *web.Env, ingester *ingest.Ingester, writer *series.Writer) *Handlers {
	a := &Handlers{Env: env, ingester: ingester, writer: writer}
	a.pool.Most = env.Budget.MostKept()
	a.warnOfSeriesPolicy()
	return a
}

// Routes are Gnocchi's, whose metrics lose labels, and Prometheus' own.
func (a *Handlers) Routes(at func(method, path string, h http.HandlerFunc)) {
	at("POST", "/v1/prometheus/write", a.AuthenticatedAnyType(a.postPrometheus))
	at("POST", "/api/v1/write", a.writeSeries)
}

// postPrometheus accepts a remote write.
func (a *Handlers) postPrometheus(w http.ResponseWriter, r *http.Request, who *auth.Identity) error {
	s := a.pool.Get()
	defer func() { a.pool.Put(s, s.bytes()) }()
	if err := a.readRemoteWrite(w, r, s); err != nil {
		return err
	}
	p := ingest.Protocol{ResourceType: resourceType, Attributes: attributes(), SameSeries: s.rows.same}
	s.rows.collision = ""
	if err := a.ingester.AppendNamed(r.Context(), who.User, a.RightsOf(who), &s.rows, &p, &s.batch); err != nil {
		return err
	}
	if s.rows.collision != "" {
		a.collision.Do(func() {
			a.Logger.Warn(
				"series that differ by other labels than job and instance are one metric; /api/v1/write keeps them apart",
				"metric", s.rows.collision)
		})
	}
	if s.rows.request.WrongTime != "" {
		return wrongTimeError(s.rows.request.WrongTime, s.rows.request.Latest)
	}
	w.WriteHeader(http.StatusAccepted)
	return nil
}

// wrongTimeError answers a request of which measures were left out for their timestamps, as of this series.
func wrongTimeError(name string, latest carbonara.Timestamp) error {
	return web.BadRequest("measures from before 1970 or after %s were refused, everything else was stored: %s",
		web.ShowTime(latest), name)
}

// readRemoteWrite reads and decodes a body.
func (a *Handlers) readRemoteWrite(w http.ResponseWriter, r *http.Request, s *scratch) (err error) {
	version2, err := requireRemoteWrite(r)
	if err != nil {
		return err
	}
	if version2 {
		return errVersion2
	}
	return a.readVersion1(w, r, s)
}

// readVersion1 is readRemoteWrite with checked headers.
func (a *Handlers) readVersion1(w http.ResponseWriter, r *http.Request, s *scratch) (err error) {
	s.rows.request.Latest = a.writer.Latest()
	s.rows.request.Acquire = web.AcquireFor(r.Context(), budget.Measures)
	defer func() { s.rows.request.Acquire = nil }()
	if err := a.readMessage(w, r, s, s.rows.request.Acquire); err != nil {
		return err
	}
	return refusal(s.rows.request.decode())
}

// readMessage reads and uncompresses a body, by snappy unless its encoding is another one, into request.plain.
func (a *Handlers) readMessage(w http.ResponseWriter, r *http.Request, s *scratch, acquire func(int) error) (
	err error) {
	plain := &s.rows.request.plain
	if encoding := r.Header.Get("Content-Encoding"); encoding != "" && encoding != "snappy" {
		*plain, err = a.ReadBody(w, r, min(a.MaxBodyBytes, maxPrometheusBytes), budget.Measures, web.PlainFactor,
			(*plain)[:0])
		return err
	}
	if s.body, err = a.ReadEncoded(w, r, a.MaxBodyBytes, budget.Measures, web.PlainFactor, s.body[:0]); err != nil {
		return err
	}
	*plain, err = uncompress(*plain, s.body, maxPrometheusBytes, acquire)
	return refusal(err)
}

// refusal returns the answer to a body that is not decoded.
func refusal(err error) error {
	switch {
	case err == nil || errors.Is(err, budget.ErrExhausted):
		return err
	case errors.Is(err, ErrTooLarge):
		return &web.Error{Status: http.StatusRequestEntityTooLarge,
			Detail: fmt.Sprintf("A body holds %d bytes at most when uncompressed", maxPrometheusBytes)}
	}
	return invalidInput(err)
}

// remoteWrite2 is the message of version 2.
const remoteWrite2 = "io.prometheus.write.v2.Request"

// errVersion2 refuses version 2 where Gnocchi's mapping is. Prometheus does not fall back to version 1 when it is
// refused: it drops the measures, and logs the first line of the answer.
var errVersion2 = &web.Error{Status: http.StatusUnsupportedMediaType,
	Detail: "Remote write 2.0 is not supported here, and these samples are lost unless they are sent again: " +
		"send to /api/v1/write, or set \"protobuf_message: prometheus.WriteRequest\" under remote_write in " +
		"prometheus.yml"}

// requireRemoteWrite reports whether a body is of version 2, and answers 415 to one of another kind than both versions.
// One without headers passes, as in Gnocchi.
func requireRemoteWrite(r *http.Request) (version2 bool, err error) {
	refused := &web.Error{Status: http.StatusUnsupportedMediaType,
		Detail: "The Content-Type has to be application/x-protobuf, with prometheus.WriteRequest, the Content-Encoding snappy"}
	encoding := r.Header.Get("Content-Encoding")
	switch encoding {
	case "", "snappy", "gzip", "zstd":
	default:
		return false, refused
	}
	contentType := r.Header.Get("Content-Type")
	if contentType == "" {
		return false, nil
	}
	kind, parameters, err := mime.ParseMediaType(contentType)
	message := parameters["proto"]
	version2 = message == remoteWrite2
	if err != nil || kind != "application/x-protobuf" || !version2 && message != "" &&
		message != "prometheus.WriteRequest" {
		return false, refused
	}
	if version2 && encoding != "" && encoding != "snappy" { // as its specification demands
		return false, refused
	}
	return version2, nil
}

func invalidInput(err error) *web.Error {
	return web.BadCause("Invalid input", err.Error(), "body")
}

// gnocchiRows are a remote write's series.
type gnocchiRows struct {
	request   WriteRequest
	collision string // name of a metric that was several series of one request
	key       []byte // scratch
}

// Len implements ingest.Rows, as all of these do.
func (r *gnocchiRows) Len() int { return len(r.request.Series) }

// Columns is of ingest.Rows.
func (r *gnocchiRows) Columns() ([]carbonara.Timestamp, []float64) {
	return r.request.Timestamps, r.request.Values
}

// Span is of ingest.Rows.
func (r *gnocchiRows) Span(row int) (from, to int) {
	return r.request.Series[row].From, r.request.Series[row].To
}

// AppendKey is of ingest.Rows.
func (r *gnocchiRows) AppendKey(dst []byte, row int) []byte {
	return r.request.AppendKey(dst, row)
}

// same reports whether two rows are of one series. Prometheus sends each measure as a row of its own, so that a series
// that is scraped often has several in a request. Gnocchi's mapping makes one metric of several series; of these one
// counts.
func (r *gnocchiRows) same(row, other int) bool {
	r.key = r.request.AppendLabels(r.key[:0], row)
	n := len(r.key)
	r.key = r.request.AppendLabels(r.key, other)
	if bytes.Equal(r.key[:n], r.key[n:]) {
		return true
	}
	if r.collision == "" {
		if target, err := r.request.Target(row); err == nil {
			r.collision = target.Metric
		}
	}
	return false
}

// Name is of ingest.Rows.
func (r *gnocchiRows) Name(row int) (*ingest.Name, error) {
	target, err := r.request.Target(row)
	if err != nil {
		return nil, invalidInput(err)
	}
	return &ingest.Name{Resource: target.Resource, Metric: target.Metric, Attributes: target.Attributes}, nil
}
