package csvimport

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/gnocco-db/gnocco/internal/client"
)

// sender sends the measures of some metrics, one request after the other.
type sender struct {
	batch    int       // measures of a request
	metrics  []*metric // those with measures pending
	measures int       // pending

	requests chan request // to be sent; closed at the end
	free     chan request // sent, to be used again
}

// request holds measures of some metrics.
type request struct {
	body    []byte
	metrics []*metric
}

func newSender(batch int) *sender {
	l := &sender{batch: batch, requests: make(chan request), free: make(chan request, 2)}
	l.free <- request{} // one is sent while the other is filled
	l.free <- request{}
	return l
}

// send sends the requests until they end. After a failure it consumes the rest without sending.
func (l *sender) send(ctx context.Context, post func(context.Context, []byte) error, fail context.CancelCauseFunc) {
	for r := range l.requests {
		if ctx.Err() == nil {
			err := post(ctx, r.body)
			if !isRefused(err) {
				for _, m := range r.metrics {
					m.offered = true
				}
			}
			if err != nil {
				fail(fmt.Errorf("csvimport: %w", err))
			}
		}
		l.free <- r
	}
}

// isRefused reports whether the server has stored nothing of a request, by its answer.
func isRefused(err error) bool {
	var answer *client.StatusError
	return errors.As(err, &answer) && answer.Status < http.StatusInternalServerError
}

// flush hands what is pending to send, waiting while a request is on its way and another one waits.
func (l *sender) flush() {
	if l.measures == 0 {
		return
	}
	r := <-l.free
	body := append(r.body[:0], '{')
	for i, m := range l.metrics {
		if i > 0 {
			body = append(body, ',')
		}
		body = append(body, '"')
		body = append(body, m.id...)
		body = append(body, `":[`...)
		body = append(body, m.pending[:len(m.pending)-1]...)
		body = append(body, ']')
		m.pending = m.pending[:0]
	}
	r.body, r.metrics = append(body, '}'), append(r.metrics[:0], l.metrics...)
	l.metrics, l.measures = l.metrics[:0], 0
	l.requests <- r
}
