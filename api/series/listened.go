package series

import (
	"bytes"
	"encoding/gob"
	"errors"
	"net/http"
	"strings"

	"github.com/gnocco-db/gnocco/api/auth"
	"github.com/gnocco-db/gnocco/api/web"
	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/ingest"
	"github.com/gnocco-db/gnocco/internal/budget"
	"github.com/gnocco-db/gnocco/internal/trusted"
)

// A listened is a listener's batch as one process sends it to another.
type listened struct {
	Protocol   string
	Labels     []byte
	Ends       [][2]int // of each row's labels and measures
	Timestamps []carbonara.Timestamp
	Values     []float64
}

// Encode returns the batch as the body of a request that Listened answers.
func (b *Batch) Encode(protocol string) []byte {
	l := listened{Protocol: protocol, Labels: b.labels, Timestamps: b.timestamps, Values: b.values}
	for _, r := range b.rows {
		l.Ends = append(l.Ends, [2]int{r.labelsTo, r.to})
	}
	var body bytes.Buffer
	_ = gob.NewEncoder(&body).Encode(&l) // of plain fields
	return body.Bytes()
}

var errListened = errors.New("a listener's batch is damaged")

// decode makes the batch that of a body.
func (b *Batch) decode(body []byte) (protocol string, err error) {
	var l listened
	if err := gob.NewDecoder(bytes.NewReader(body)).Decode(&l); err != nil {
		return "", err
	}
	b.Reset()
	b.labels, b.timestamps, b.values = l.Labels, l.Timestamps, l.Values
	var last row
	for _, end := range l.Ends {
		last = row{labelsFrom: last.labelsTo, labelsTo: end[0], from: last.to, to: end[1]}
		if last.labelsFrom > last.labelsTo || last.from >= last.to || last.to > len(l.Values) ||
			last.labelsTo > len(l.Labels) {
			return "", errListened
		}
		b.rows = append(b.rows, last)
	}
	if last.to != len(l.Values) || len(l.Values) != len(l.Timestamps) {
		return "", errListened
	}
	return l.Protocol, nil
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
	const factor = 2 // gob's copy
	body, err := w.ReadEncoded(rw, r, w.MaxBodyBytes, budget.Measures, factor, nil)
	if err != nil {
		return err
	}
	var batch Batch
	protocol, err := batch.decode(body)
	if err != nil {
		return web.BadRequest("%s", err)
	}
	who := &auth.Identity{User: creator}
	_, who.ProjectID, _ = strings.Cut(creator, ":") // Keystone's users are "user ID:project ID"
	push := Push{Protocol: protocol, Rows: &batch, MaxFuture: ingest.MaxFutureOfSenders, Rights: ingest.Unrestricted{}}
	outcome, err := w.Append(r.Context(), who, &push, &batch.Named)
	if err == nil && outcome.First != nil && web.AsError(outcome.First).Status >= http.StatusInternalServerError {
		err = outcome.First
	}
	return err
}
