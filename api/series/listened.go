package series

import (
	"bytes"
	"encoding/binary"
	"io"
	"math"
	"net/http"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/gnocco-db/gnocco/api/auth"
	"github.com/gnocco-db/gnocco/api/web"
	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/ingest"
	"github.com/gnocco-db/gnocco/internal/budget"
	"github.com/gnocco-db/gnocco/internal/trusted"
)

// A batchBody is the body of a listener's request. The process that holds the index takes the batch itself; the body is
// encoded once it is read, to go to another process.
type batchBody struct {
	batch    *Batch
	protocol string
	encoded  *bytes.Reader // nil: not read yet
}

// Body returns the body of a request that Listened answers. The batch stays the caller's.
func (b *Batch) Body(protocol string) io.ReadCloser { return &batchBody{batch: b, protocol: protocol} }

func (b *batchBody) Read(p []byte) (int, error) {
	if b.encoded == nil {
		b.encoded = bytes.NewReader(b.batch.encode(b.protocol))
	}
	return b.encoded.Read(p)
}

func (b *batchBody) Close() error { return nil }

// encode returns the protocol, and of each row the labels and the measures, each with its length. A measure is its time
// and the bits of its value, 8 bytes each.
func (b *Batch) encode(protocol string) []byte {
	dst := make([]byte, 0, len(b.labels)+16*len(b.values)+4*len(b.rows)+len(protocol)+1)
	dst = protowire.AppendString(dst, protocol)
	for i, r := range b.rows {
		labels, _ := b.readLabels(i) // a listener's heads mean labels
		dst = protowire.AppendVarint(protowire.AppendString(dst, string(labels)), uint64(16*(r.to-r.from)))
		for i := r.from; i < r.to; i++ {
			dst = protowire.AppendFixed64(dst, uint64(b.timestamps[i]))
			dst = protowire.AppendFixed64(dst, math.Float64bits(b.values[i]))
		}
	}
	return dst
}

// decode makes the batch that of a body.
func (b *Batch) decode(body []byte) (protocol string, err error) {
	b.Reset()
	next := func() (part []byte) {
		part, n := protowire.ConsumeBytes(body)
		if err = protowire.ParseError(n); err == nil {
			body = body[n:]
		}
		return part
	}
	protocol = string(next())
	for err == nil && len(body) > 0 {
		labels := next()
		for measures := next(); len(measures) >= 16; measures = measures[16:] {
			b.timestamps = append(b.timestamps, carbonara.Timestamp(binary.LittleEndian.Uint64(measures)))
			b.values = append(b.values, math.Float64frombits(binary.LittleEndian.Uint64(measures[8:])))
		}
		b.labels = append(b.labels, labels...)
		_ = b.end(len(b.labels)-len(labels), false) // it acquires no memory
	}
	return protocol, err
}

// Listened stores the batches of this cluster's listeners, and passes on the requests of clients. Refused rows are
// counted. An error that another attempt may mend is the answer.
func (w *Writer) Listened(next http.Handler) http.Handler {
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		creator, ok := trusted.Creator(r.Context())
		if !ok {
			next.ServeHTTP(rw, r)
			return
		}
		if err := w.storeListened(rw, r, creator); err != nil {
			w.Fail(rw, r, err, func(status int, text string) { http.Error(rw, text, status) })
			return
		}
		rw.WriteHeader(http.StatusNoContent)
	})
}

func (w *Writer) storeListened(rw http.ResponseWriter, r *http.Request, creator string) error {
	own, ok := r.Body.(*batchBody)
	if !ok {
		const factor = 2 // the batch's copy
		body, err := w.ReadEncoded(rw, r, w.MaxBodyBytes, budget.Measures, factor, nil)
		if err != nil {
			return err
		}
		own = &batchBody{batch: new(Batch)}
		if own.protocol, err = own.batch.decode(body); err != nil {
			return web.BadRequest("a listener's batch is damaged: %s", err)
		}
	} else if acquire := web.AcquireFor(r.Context(), budget.Measures); acquire != nil {
		if err := acquire(own.batch.Bytes()); err != nil {
			return err
		}
	}
	who := &auth.Identity{User: creator}
	_, who.ProjectID, _ = strings.Cut(creator, ":") // Keystone's users are "user ID:project ID"
	push := Push{Protocol: own.protocol, Rows: own.batch, MaxFuture: ingest.MaxFutureOfSenders,
		Rights: ingest.Unrestricted{}}
	outcome, err := w.Append(r.Context(), who, &push, &own.batch.Named)
	if err == nil && outcome.First != nil && web.AsError(outcome.First).Status >= http.StatusInternalServerError {
		err = outcome.First
	}
	return err
}
