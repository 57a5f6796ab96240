package otlp

import (
	"cmp"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/gnocco-db/gnocco/api/auth"
	"github.com/gnocco-db/gnocco/api/text"
	"github.com/gnocco-db/gnocco/api/web"
	"github.com/gnocco-db/gnocco/ingest"
	"github.com/gnocco-db/gnocco/ingest/series"
	"github.com/gnocco-db/gnocco/internal/budget"
	"github.com/gnocco-db/gnocco/internal/counted"
	"github.com/gnocco-db/gnocco/model"
)

// protocol is the name of OTLP in counters.
const protocol = "otlp"

// jsonFactor is what a body of JSON becomes at most: three bytes are a point.
const jsonFactor web.Factor = 80

// Handlers serve OTLP/HTTP.
type Handlers struct {
	*web.Env
	writer *series.Writer
	pool   budget.Pool[scratch]

	resources resources
}

// scratch is the memory that a request needs.
type scratch struct {
	body       []byte
	batch      series.Batch
	translator translator
}

// New returns handlers whose measures go to a writer.
func New(env *web.Env, writer *series.Writer) *Handlers {
	a := &Handlers{Env: env, writer: writer}
	a.pool.Most = env.Budget.MostKept()
	return a
}

// Routes are OTLP's own, and Prometheus'.
func (a *Handlers) Routes(at func(method, path string, h http.HandlerFunc)) {
	at("POST", "/v1/metrics", a.post)
	at("POST", "/api/v1/otlp/v1/metrics", a.post)
}

func (a *Handlers) post(w http.ResponseWriter, r *http.Request) {
	kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	form := cmp.Or(forms[kind], forms["application/json"])
	err := a.WithIdentity(func(w http.ResponseWriter, r *http.Request, who *auth.Identity) error {
		if forms[kind] == nil {
			return &web.Error{Status: http.StatusUnsupportedMediaType,
				Detail: "The Content-Type has to be application/x-protobuf or application/json"}
		}
		return a.export(w, r, who, form)
	})(w, r)
	if err != nil {
		a.FailAs(w, r, err, func(status int, text string) {
			form.write(w, status, form.status(cmp.Or(codes[status], 2), text))
		})
	}
}

// export stores the points of a request. A point that cannot be stored is partial success. An error that another
// attempt may mend concerns the whole request: the exporter repeats it.
func (a *Handlers) export(w http.ResponseWriter, r *http.Request, who *auth.Identity, form *form) (err error) {
	s := a.pool.Get()
	defer func() { a.pool.Put(s, cap(s.body)+s.batch.Bytes()+8*cap(s.translator.pointOf)+40*s.translator.points) }()
	if s.body, err = a.ReadBody(w, r, a.MaxBodyBytes, budget.Measures, form.factor, s.body[:0]); err != nil {
		return err
	}
	t := &s.translator
	t.batch = &s.batch
	t.reset()
	t.latest = a.writer.Latest(ingest.MaxFutureOfRemoteWrite)
	s.batch.Acquire = web.AcquireFor(r.Context(), budget.Measures)
	defer func() { s.batch.Acquire = nil }()
	if err = form.decode(s.body, t); err == nil {
		err = t.endResource()
	}
	switch {
	case errors.Is(err, budget.ErrExhausted):
		return err
	case err != nil:
		return web.BadRequest("The body could not be decoded: %s", err)
	}
	a.writer.Describe(r.Context(), who.User, t.metadata) // types decide on archive policies
	dropped := map[int]bool{}
	push := series.Push{Creator: who.User, Rights: a.RightsOf(who), Protocol: protocol, Rows: &s.batch,
		MaxFuture: ingest.MaxFutureOfRemoteWrite,
		Drop: func(row, measures int, err error) {
			from, _ := s.batch.Span(row)
			for _, point := range t.pointOf[from:][:measures] {
				dropped[point] = true
			}
			t.tell(web.AsError(err).Description())
		}}
	first, err := a.writer.Append(r.Context(), &push, &s.batch.Named)
	if err != nil {
		return err
	}
	if first != nil && !errors.Is(first, model.ErrInvalid) {
		return first
	}
	delete(dropped, -1) // target_info
	refused := len(dropped)
	for reason, points := range t.refused {
		a.writer.Refuse(protocol, reason, points, strings.Join(t.texts, "; "))
		refused += points
	}
	for key, is := range t.resources {
		if a.resources.alternate(who.User, key, is) {
			t.note(key.String())
		}
	}
	a.writer.KeepExemplars(who.User, protocol, &t.exemplars)
	form.write(w, http.StatusOK, form.success(refused, t))
	return nil
}

// A form is how a body and its answer are written.
type form struct {
	contentType string
	factor      web.Factor
	decode      func(body []byte, v visitor) error
	// partial returns an ExportMetricsServiceResponse of so many refused points.
	partial func(refused int, message string) []byte
	status  func(code int, message string) []byte // a google.rpc.Status
}

// success returns the answer to a request with refused points. It names them, and what else is not as it was sent.
func (f *form) success(refused int, t *translator) []byte {
	texts := t.notes
	if refused > 0 {
		told := fmt.Sprintf("%d of %s refused, the others stored: %s", refused, counted.Of(t.points, "point"),
			strings.Join(t.texts, "; "))
		if len(t.texts) == maxTexts {
			told += "; and perhaps others"
		}
		texts = append([]string{told}, texts...)
	}
	return f.partial(refused, strings.Join(texts, "; "))
}

func (f *form) write(w http.ResponseWriter, status int, body []byte) {
	w.Header().Set("Content-Type", f.contentType)
	web.WriteBody(w, status, body)
}

// codes are gRPC's, by status of HTTP. Others are 2, which is unknown.
var codes = map[int]int{
	http.StatusBadRequest: 3, http.StatusForbidden: 7, http.StatusTooManyRequests: 8,
	http.StatusInternalServerError: 13, http.StatusServiceUnavailable: 14, http.StatusUnauthorized: 16,
	http.StatusRequestEntityTooLarge: 3, http.StatusUnsupportedMediaType: 3, http.StatusGatewayTimeout: 4,
}

var forms = map[string]*form{
	"application/x-protobuf": {contentType: "application/x-protobuf", factor: web.PlainFactor, decode: decodeProtobuf,
		partial: func(refused int, message string) []byte {
			if message == "" {
				return nil
			}
			partial := protowire.AppendTag(nil, 1, protowire.VarintType)
			partial = protowire.AppendVarint(partial, uint64(refused))
			partial = protowire.AppendTag(partial, 2, protowire.BytesType)
			partial = protowire.AppendString(partial, message)
			return protowire.AppendBytes(protowire.AppendTag(nil, 1, protowire.BytesType), partial)
		},
		status: func(code int, message string) []byte {
			answer := protowire.AppendTag(nil, 1, protowire.VarintType)
			answer = protowire.AppendVarint(answer, uint64(code))
			return protowire.AppendString(protowire.AppendTag(answer, 2, protowire.BytesType), message)
		}},
	"application/json": {contentType: "application/json", factor: jsonFactor,
		decode: decodeJSON,
		partial: func(refused int, message string) []byte {
			if message == "" {
				return []byte("{}")
			}
			return fmt.Appendf(nil, `{"partialSuccess":{"rejectedDataPoints":"%d","errorMessage":%s}}`, refused,
				text.AppendJSON(nil, message))
		},
		status: func(code int, message string) []byte {
			return fmt.Appendf(nil, `{"code":%d,"message":%s}`, code, text.AppendJSON(nil, message))
		}},
}
