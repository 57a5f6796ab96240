package prometheus

import (
	"errors"
	"fmt"
	"mime"
	"net/http"
	"sync"

	"github.com/gnocco-db/gnocco/api/auth"
	"github.com/gnocco-db/gnocco/api/web"
	"github.com/gnocco-db/gnocco/ingest"
	"github.com/gnocco-db/gnocco/ingest/series"
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
	body    []byte
	request WriteRequest
}

func (s *scratch) bytes() int { return cap(s.body) + s.request.Bytes() }

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
	version2, err := requireRemoteWrite(r)
	if err != nil {
		return err
	}
	if version2 {
		return errVersion2
	}
	request := &s.request
	request.Version2, request.Labelled = false, false
	if err := a.read(w, r, s); err != nil {
		return err
	}
	rows := gnocchiRows{WriteRequest: request}
	p := ingest.Protocol{ResourceType: resourceType, Attributes: attributes(), SameSeries: rows.same}
	if err := a.ingester.AppendNamed(r.Context(), who.User, a.RightsOf(who), &rows, &p, &request.Named); err != nil {
		return err
	}
	if rows.collision != "" {
		a.collision.Do(func() {
			a.Logger.Warn(
				"series that differ by other labels than job and instance are one metric; /api/v1/write keeps them apart",
				"metric", rows.collision)
		})
	}
	if err := request.refused(request.Written(), nil); err != nil {
		return err
	}
	w.WriteHeader(http.StatusAccepted)
	return nil
}

// read reads, uncompresses and decodes a body, by snappy unless its encoding is another one.
func (a *Handlers) read(w http.ResponseWriter, r *http.Request, s *scratch) (err error) {
	request := &s.request
	request.Latest = a.writer.Latest(ingest.MaxFutureOfRemoteWrite)
	request.Acquire = web.AcquireFor(r.Context(), budget.Measures)
	defer func() { request.Acquire = nil }()
	if encoding := r.Header.Get("Content-Encoding"); encoding != "" && encoding != "snappy" {
		request.plain, err = a.ReadBody(w, r, min(a.MaxBodyBytes, maxPrometheusBytes), budget.Measures, web.PlainFactor,
			request.plain[:0])
		if err != nil {
			return err
		}
	} else {
		if s.body, err = a.ReadEncoded(w, r, a.MaxBodyBytes, budget.Measures, web.PlainFactor, s.body[:0]); err != nil {
			return err
		}
		request.plain, err = uncompress(request.plain, s.body, maxPrometheusBytes, request.Acquire)
	}
	if err == nil {
		err = request.decode()
	}
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
	case "", "snappy", "gzip", "zstd", "deflate", "zlib", "x-snappy-framed":
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

func invalidInput(err error) *web.Error { return web.BadCause("Invalid input", err.Error(), "body") }
