package web

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gnocco-db/gnocco/api/auth"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

// Users who wait have their turns one after the other, however many queries each has. Where too many wait, the one who
// has most of them loses the newest.
func TestTurnsAreFair(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		turns := newTurns(&Limits{Queries: 1, QueuedQueries: 6}, newInstruments(nil))
		first, err := turns.acquire(t.Context(), nil)
		fatal.If(t, err)
		var events []string // at most one goroutine runs between two waits
		ask := func(name string, who *auth.Identity, ctx context.Context) {
			go func() {
				release, err := turns.acquire(ctx, who)
				if err != nil {
					events = append(events, name+" refused")
					return
				}
				events = append(events, name)
				release()
			}()
			synctest.Wait()
		}
		heavy := &auth.Identity{User: "u:heavy", ProjectID: "heavy"}
		for i := range 7 {
			ask(fmt.Sprint("heavy", i), heavy, t.Context())
		}
		ask("light0", &auth.Identity{User: "light"}, t.Context())
		ask("other0", &auth.Identity{User: "other"}, t.Context())
		gone, leave := context.WithCancel(t.Context())
		ask("light1", &auth.Identity{User: "light"}, gone)
		leave()
		synctest.Wait()
		first()
		synctest.Wait()
		want := []string{"heavy6 refused", "heavy5 refused", "heavy4 refused", "heavy3 refused", "light1 refused",
			"heavy0", "light0", "other0", "heavy1", "heavy2"}
		if !slices.Equal(events, want) {
			t.Errorf("got %q, want %q", events, want)
		}
		if turns.free != 1 || turns.waiting != 0 || len(turns.queues) != 0 || len(turns.users) != 0 {
			t.Errorf("left over: %d free, %d waiting, %v, %v", turns.free, turns.waiting, turns.queues, turns.users)
		}
	})
}

// A turn ends with its request or when its answer begins. A query that leaves early gets the reason why it had no turn.
func TestTurnsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		turns := newTurns(&Limits{Queries: 1, QueuedQueries: 1}, newInstruments(nil))
		take := func(ctx context.Context) func() {
			t.Helper()
			release, err := turns.acquire(ctx, nil)
			fatal.If(t, err)
			return release
		}
		first, end := context.WithCancel(t.Context())
		take(first)
		end()
		release := take(t.Context())
		for cause, want := range map[error]bool{ErrQueryTimeout: true, context.Canceled: false} {
			gone, leave := context.WithCancelCause(t.Context())
			leave(cause)
			_, err := turns.acquire(gone, nil)
			var busy *Error
			if errors.As(err, &busy) != want {
				t.Errorf("who leaves because of %v is told %v", cause, err)
			}
		}
		writer := &turnWriter{httptest.NewRecorder(), release}
		if _, err := writer.Write([]byte("part")); err != nil {
			t.Error(err)
		}
		take(t.Context())()
		turns.most = 0 // none waits; one is evaluated
		take(t.Context())()
	})
}

// late is a context whose time is over before its timer says so.
type late struct{ context.Context }

func (late) Deadline() (time.Time, bool) { return time.Now(), true }

// A query that ran out of time before its turn gets the reason, even if its timer has not fired yet.
func TestTimeIsOverBeforeItsTimer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := &Env{turns: newTurns(&Limits{Queries: 1}, newInstruments(nil))}
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, ErrQueryTimeout)
		defer cancel()
		r := httptest.NewRequestWithContext(late{ctx}, http.MethodGet, "/", nil)
		err := e.Evaluate(httptest.NewRecorder(), r, nil, func(http.ResponseWriter) error {
			t.Error("it is evaluated")
			return nil
		})
		if !errors.Is(err, context.DeadlineExceeded) || context.Cause(ctx) != ErrQueryTimeout {
			t.Errorf("%v because of %v", err, context.Cause(ctx))
		}
	})
}

// watched is a context that notes whether a function for its end was taken back.
type watched struct {
	context.Context
	stopped bool
}

func (w *watched) Done() <-chan struct{} { return make(chan struct{}) }

func (w *watched) AfterFunc(func()) (stop func() bool) {
	return func() bool { w.stopped = true; return true }
}

// A released turn leaves nothing to do at the end of its request: that would start a goroutine for each query.
func TestReleasedTurnsLeaveTheirRequest(t *testing.T) {
	w := &watched{Context: t.Context()}
	release, err := newTurns(&Limits{Queries: 1}, newInstruments(nil)).acquire(w, nil)
	fatal.If(t, err)
	if release(); !w.stopped {
		t.Error("the end of the request releases the turn once more")
	}
}

// The user who has most queries loses one, of several the one whose turn is next. A user with one query fewer would
// have as many, and is refused.
func TestGreediestUserLosesAQuery(t *testing.T) {
	for _, c := range []struct {
		queries string // their users, in order
		want    string // the user who is refused one
	}{{"aabbc", "a"}, {"aaabb", "a"}, {"aabbb", "b"}, {"abbba", "b"}, {"aabbba", "a"}, {"abcccd", "c"},
		{"abbccd", "b"}} {
		synctest.Test(t, func(t *testing.T) {
			turns := newTurns(&Limits{Queries: 1, QueuedQueries: len(c.queries) - 1}, newInstruments(nil))
			first, _ := turns.acquire(t.Context(), nil)
			refused := ""
			for _, user := range c.queries {
				go func() {
					release, err := turns.acquire(t.Context(), &auth.Identity{User: string(user)})
					if err != nil {
						refused += string(user)
						return
					}
					release()
				}()
				synctest.Wait()
			}
			if refused != c.want {
				t.Errorf("%s: %q is refused, want %q", c.queries, refused, c.want)
			}
			first()
			synctest.Wait()
		})
	}
}
