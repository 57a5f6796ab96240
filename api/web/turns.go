package web

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/gnocco-db/gnocco/api/auth"
	"github.com/gnocco-db/gnocco/query/activity"
)

// turns bounds how many queries are evaluated at once: those that combine many metrics, or search among all. The rest
// of them wait: each user's in the order in which they came, and users by turns, so that one who asks for much does not
// hold up the others. Reads of one metric or resource, lists, measures and changes are small, and never wait here.
type turns struct {
	most int // that wait

	running, queued prometheus.Gauge
	refused         *prometheus.CounterVec // by reason

	mu      sync.Mutex
	free    int
	waiting int
	queues  map[string][]*queuedQuery // by user; each has a query
	users   []string                  // of queues; whose turn is next comes first
}

// queuedQuery waits for its turn.
type queuedQuery struct {
	called  chan struct{} // closed when it has its turn, or is to make room for others
	refused bool          // set before called is closed, or when the query has left
}

func newTurns(l *Limits, m *instruments) *turns {
	return &turns{free: l.Queries, most: l.QueuedQueries, running: m.runningQueries, queued: m.queuedQueries,
		refused: m.refusedQueries, queues: make(map[string][]*queuedQuery)}
}

// projectOf returns who shares limits: a project, or a user where there are no projects; "" for nobody.
func projectOf(who *auth.Identity) string {
	if who == nil {
		return ""
	}
	return cmp.Or(who.ProjectID, who.User)
}

// acquire waits for a turn, which lasts until release or the end of ctx.
func (t *turns) acquire(ctx context.Context, who *auth.Identity) (release func(), err error) {
	if err := t.wait(ctx, projectOf(who)); err != nil {
		return nil, err
	}
	t.running.Inc()
	end := sync.OnceFunc(func() {
		t.running.Dec()
		t.mu.Lock()
		defer t.mu.Unlock()
		t.free++
		t.call()
	})
	stop := context.AfterFunc(ctx, end)
	return sync.OnceFunc(func() {
		stop() // or else the end of the request starts a goroutine, which wakes another core
		end()
	}), nil
}

func (t *turns) wait(ctx context.Context, user string) error {
	q := t.join(user)
	if q != nil {
		select {
		case <-q.called:
		case <-ctx.Done():
			if t.leave(user, q) {
				if context.Cause(ctx) != ErrQueryTimeout {
					return ctx.Err()
				}
				q.refused = true
			}
		}
	}
	if q != nil && !q.refused {
		return nil
	}
	t.refused.WithLabelValues("queue").Inc()
	return &Error{Status: http.StatusServiceUnavailable,
		Detail: "Too many queries are being evaluated, and wait for their turn. Please try again later."}
}

// join puts a query of a user behind their others. If too many queries wait, the newest one of the user who has most of
// them goes. join returns nil if that is this one.
func (t *turns) join(user string) *queuedQuery {
	t.mu.Lock()
	defer t.mu.Unlock()
	q := &queuedQuery{called: make(chan struct{})}
	if t.free == 0 && t.waiting >= t.most {
		greedy := user
		for _, other := range t.users {
			if len(t.queues[other]) > len(t.queues[greedy])+1 ||
				greedy != user && len(t.queues[other]) > len(t.queues[greedy]) {
				greedy = other
			}
		}
		if greedy == user {
			return nil
		}
		last := t.queues[greedy][len(t.queues[greedy])-1]
		t.remove(greedy, last)
		last.refused = true
		close(last.called)
	}
	if len(t.queues[user]) == 0 {
		t.users = append(t.users, user)
	}
	t.queues[user] = append(t.queues[user], q)
	t.waiting++
	t.queued.Inc()
	t.call()
	return q
}

// leave reports whether a query was still waiting.
func (t *turns) leave(user string, q *queuedQuery) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	select {
	case <-q.called:
		return false
	default:
		t.remove(user, q)
		return true
	}
}

// remove takes a query out of its queue. mu is held.
func (t *turns) remove(user string, q *queuedQuery) {
	queue := slices.DeleteFunc(t.queues[user], func(other *queuedQuery) bool { return other == q })
	t.queues[user] = queue
	if len(queue) == 0 {
		delete(t.queues, user)
		t.users = slices.DeleteFunc(t.users, func(other string) bool { return other == user })
	}
	t.waiting--
	t.queued.Dec()
}

// call gives turns that are free to those that wait. mu is held.
func (t *turns) call() {
	for t.free > 0 && t.waiting > 0 {
		user := t.users[0]
		q := t.queues[user][0]
		t.remove(user, q)
		if len(t.queues[user]) > 0 { // behind the other users
			t.users = append(t.users[1:], user)
		}
		t.free--
		close(q.called)
	}
}

// AwaitTurn waits until a user's query may be evaluated. Its turn lasts until release or the end of ctx.
func (e *Env) AwaitTurn(ctx context.Context, who *auth.Identity) (release func(), err error) {
	q := activity.Of(ctx)
	q.Wait(true)
	defer q.Wait(false)
	return e.turns.acquire(ctx, who)
}

// Evaluate answers a user's query by answer, once the query has its turn. It calls answer again where other requests
// held memory that the query needed. The turn ends when answer returns or writes the first part: a client that reads
// slowly keeps nobody waiting. A handler calls evaluate after it has read the body, for the same reason.
func (e *Env) Evaluate(w http.ResponseWriter, r *http.Request, who *auth.Identity,
	answer func(w http.ResponseWriter) error) error {
	release, err := e.AwaitTurn(r.Context(), who)
	if err != nil {
		return err
	}
	defer release()
	// A timer may fire late: the clock decides whether there is time left. The context tells its cause once it ends.
	if deadline, ok := r.Context().Deadline(); ok && !time.Now().Before(deadline) {
		<-r.Context().Done()
		return r.Context().Err()
	}
	return e.Patiently(r.Context(), func() error { return answer(&turnWriter{w, release}) })
}

type turnWriter struct {
	http.ResponseWriter
	release func()
}

func (w *turnWriter) Write(part []byte) (int, error) {
	w.release()
	return w.ResponseWriter.Write(part)
}

// Unwrap is for http.ResponseController.
func (w *turnWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
