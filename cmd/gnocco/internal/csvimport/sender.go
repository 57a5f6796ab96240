package csvimport

import (
	"context"
	"fmt"
)

// sender sends the measures of some metrics, one request after the other.
type sender struct {
	batch    int       // measures of a request
	metrics  []*metric // those with measures pending
	measures int       // pending

	requests chan []byte // bodies to be sent; closed at the end
	free     chan []byte // bodies sent, to be used again
}

func newSender(batch int) *sender {
	l := &sender{batch: batch, requests: make(chan []byte), free: make(chan []byte, 2)}
	l.free <- nil // one body is sent while the other is filled
	l.free <- nil
	return l
}

// send sends the requests until they end. After a failure it consumes the rest without sending.
func (l *sender) send(ctx context.Context, post func(context.Context, []byte) error, fail context.CancelCauseFunc) {
	for body := range l.requests {
		if ctx.Err() == nil {
			if err := post(ctx, body); err != nil {
				fail(fmt.Errorf("csvimport: %w", err))
			}
		}
		l.free <- body
	}
}

// flush hands what is pending to send, waiting while a request is on its way and another one waits.
func (l *sender) flush() {
	if l.measures == 0 {
		return
	}
	body := append((<-l.free)[:0], '{')
	for i, m := range l.metrics {
		if i > 0 {
			body = append(body, ',')
		}
		body = append(body, '"')
		body = append(body, m.target...)
		body = append(body, `":[`...)
		body = append(body, m.pending[:len(m.pending)-1]...)
		body = append(body, ']')
		m.pending = m.pending[:0]
	}
	l.metrics, l.measures = l.metrics[:0], 0
	l.requests <- append(body, '}')
}
