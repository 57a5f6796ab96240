package api

import (
	"bytes"
	"errors"
	"fmt"
	"mime"
	"net/http"

	"gnocco/api/auth"
	"gnocco/api/prometheus"
	"gnocco/carbonara"
	"gnocco/ingest"
	"gnocco/internal/budget"
	"gnocco/model"
)

const (
	prometheusType = "prometheus" // resource type
	maxLabelLength = 512          // of a label's value, in characters

	// maxPrometheusBytes is the most that a body may be when uncompressed; decoded it takes several times that.
	// Prometheus sends some hundred kilobytes.
	maxPrometheusBytes = 32 << 20
)

// prometheusAttributes are those of the resource type, which is created when it is first needed.
func prometheusAttributes() []*model.Attribute {
	return []*model.Attribute{
		{Name: "instance", Kind: model.KindString, Required: true, MinLength: 1, MaxLength: maxLabelLength},
		{Name: "job", Kind: model.KindString, Required: true, MinLength: 1, MaxLength: maxLabelLength},
	}
}

// prometheusScratch is the memory that a remote write needs.
type prometheusScratch struct {
	body  []byte
	batch ingest.NamedBatch
	rows  prometheusRows
}

func (s *prometheusScratch) bytes() int {
	return cap(s.body) + s.batch.Bytes() + s.rows.request.Bytes()
}

// postPrometheus accepts a remote write.
func (a *api) postPrometheus(w http.ResponseWriter, r *http.Request, who *auth.Identity) error {
	if err := requireRemoteWrite(r); err != nil {
		return err
	}
	s := a.prometheus.get()
	defer func() { a.prometheus.put(s, s.bytes()) }()
	var err error
	if s.body, err = a.readBody(w, r, a.MaxBodyBytes, budget.Measures, plainFactor, s.body[:0]); err != nil {
		return err
	}
	s.rows.request.Take = takeFor(r.Context(), budget.Measures)
	defer func() { s.rows.request.Take = nil }()
	if err := s.rows.request.Decode(s.body, maxPrometheusBytes); err != nil {
		if errors.Is(err, prometheus.ErrTooLarge) {
			return &Error{Status: http.StatusRequestEntityTooLarge,
				Detail: fmt.Sprintf("A body holds %d bytes at most when uncompressed", maxPrometheusBytes)}
		}
		if errors.Is(err, budget.ErrExhausted) {
			return err
		}
		return prometheusFault(err)
	}
	s.rows.allLabels = a.PrometheusLabels
	p := ingest.Protocol{ResourceType: prometheusType, Attributes: prometheusAttributes(), AnyAttribute: a.PrometheusLabels,
		MaxAttribute: maxLabelLength}
	if !a.PrometheusLabels {
		p.SameSeries = s.rows.same
	}
	if err := a.ingester.AppendNamed(r.Context(), who.User, a.rightsOf(who), &s.rows, &p, &s.batch); err != nil {
		return err
	}
	w.WriteHeader(http.StatusAccepted)
	return nil
}

// requireRemoteWrite answers 415 to what says to be something else than the message that we know: so a client that
// tries a newer one first learns to use this one. What says nothing passes, as in Gnocchi.
func requireRemoteWrite(r *http.Request) error {
	refused := &Error{Status: http.StatusUnsupportedMediaType,
		Detail: "The Content-Type has to be application/x-protobuf, with prometheus.WriteRequest, the Content-Encoding snappy"}
	if encoding := r.Header.Get("Content-Encoding"); encoding != "" && encoding != "snappy" {
		return refused
	}
	contentType := r.Header.Get("Content-Type")
	if contentType == "" {
		return nil
	}
	kind, parameters, err := mime.ParseMediaType(contentType)
	message := parameters["proto"]
	if err != nil || kind != "application/x-protobuf" || message != "" && message != "prometheus.WriteRequest" {
		return refused
	}
	return nil
}

func prometheusFault(err error) *Error {
	return &Error{Status: http.StatusBadRequest, Detail: Cause{Cause: "Invalid input", Reason: err.Error(), Detail: "body"}, Err: err}
}

// prometheusRows are a remote write's series.
type prometheusRows struct {
	request   prometheus.WriteRequest
	allLabels bool
	key       []byte // scratch
}

// Len implements ingest.Rows, as all of these do.
func (r *prometheusRows) Len() int { return len(r.request.Series) }

// Columns is of ingest.Rows.
func (r *prometheusRows) Columns() ([]carbonara.Timestamp, []float64) {
	return r.request.Timestamps, r.request.Values
}

// Span is of ingest.Rows.
func (r *prometheusRows) Span(row int) (from, to int) {
	return r.request.Series[row].From, r.request.Series[row].To
}

// AppendKey is of ingest.Rows.
func (r *prometheusRows) AppendKey(dst []byte, row int) []byte {
	return r.request.AppendKey(dst, row, r.allLabels)
}

// same reports whether two rows are of one series. Prometheus sends each measure as a row of its own, so that a series
// that is scraped often has several in a request. Gnocchi's mapping makes one metric of several series; of these one
// counts.
func (r *prometheusRows) same(row, other int) bool {
	r.key = r.request.AppendKey(r.key[:0], row, true)
	n := len(r.key)
	r.key = r.request.AppendKey(r.key, other, true)
	return bytes.Equal(r.key[:n], r.key[n:])
}

// Name is of ingest.Rows.
func (r *prometheusRows) Name(row int) (*ingest.Name, error) {
	target, err := r.request.Target(row, r.allLabels)
	if err != nil {
		return nil, prometheusFault(err)
	}
	name := &ingest.Name{Resource: target.Resource, Metric: target.Metric, Attributes: make(map[string]string, len(target.Attributes))}
	for label, value := range target.Attributes {
		name.Attributes[labelAttribute(label)] = value
	}
	return name, nil
}

// labelAttribute returns the attribute that a label becomes: one of its name, unless no attribute may be called so.
func labelAttribute(label string) string {
	_, err := model.NewResourceType(prometheusType, []*model.Attribute{{Name: label, Kind: model.KindString}})
	if err != nil {
		return "label_" + label
	}
	return label
}
