package api

import (
	"context"
	"net/http"
	"sync"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"

	"gnocco/api/auth"
)

// turns bounds how many queries are evaluated at once: those that combine many metrics, or search among all. The rest
// of them wait, in the order in which they came. Reads of one metric or resource, lists, measures and changes are small,
// and never wait here.
type turns struct {
	slots   chan struct{}
	waiting atomic.Int64
	most    int64 // that wait

	running, queued prometheus.Gauge
	refused         *prometheus.CounterVec // by reason
}

func newTurns(l *Limits, m *instruments) *turns {
	return &turns{slots: make(chan struct{}, l.Queries), most: int64(l.QueuedQueries), running: m.runningQueries, queued: m.queuedQueries,
		refused: m.refusedQueries}
}

// take waits for a turn, which lasts until release or the end of ctx.
func (t *turns) take(ctx context.Context) (release func(), err error) {
	select {
	case t.slots <- struct{}{}:
	default:
		if err := t.wait(ctx); err != nil {
			return nil, err
		}
	}
	t.running.Inc()
	release = sync.OnceFunc(func() {
		t.running.Dec()
		<-t.slots
	})
	context.AfterFunc(ctx, release)
	return release, nil
}

func (t *turns) wait(ctx context.Context) error {
	busy := &Error{Status: http.StatusServiceUnavailable, Detail: "Too many queries are being evaluated, and wait for their turn. Please try again later."}
	defer t.waiting.Add(-1)
	if t.waiting.Add(1) > t.most {
		t.refused.WithLabelValues("queue").Inc()
		return busy
	}
	t.queued.Inc()
	defer t.queued.Dec()
	select {
	case t.slots <- struct{}{}:
		return nil
	case <-ctx.Done():
		if context.Cause(ctx) != errQueryTimeout {
			return ctx.Err()
		}
		t.refused.WithLabelValues("queue").Inc()
		return busy
	}
}

// turn waits until a user's query may be evaluated. Its turn ends with the context of r, or when the returned writer gets
// the first part of the answer: a client that reads slowly keeps nobody waiting. A handler takes it after it has read the
// body, for the same reason.
func (a *api) turn(w http.ResponseWriter, r *http.Request, _ *auth.Identity) (http.ResponseWriter, error) {
	release, err := a.turns.take(r.Context())
	return &turnWriter{w, release}, err
}

type turnWriter struct {
	http.ResponseWriter
	release func()
}

// Write implements http.ResponseWriter.
func (w *turnWriter) Write(part []byte) (int, error) {
	w.release()
	return w.ResponseWriter.Write(part)
}

// Unwrap is for http.ResponseController.
func (w *turnWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
