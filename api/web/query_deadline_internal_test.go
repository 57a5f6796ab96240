package web

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// A queryDeadline behaves as context.WithDeadlineCause does, in any order of calls.
func TestQueryDeadline(t *testing.T) {
	why := errors.New("why")
	type key struct{}
	ask := map[string]func(ctx context.Context){
		"nothing": func(context.Context) {},
		"done":    func(ctx context.Context) { ctx.Done() },
		"err":     func(ctx context.Context) { _ = ctx.Err() },
		"often": func(ctx context.Context) {
			for range 2 * clockAsks {
				_ = ctx.Err()
			}
		},
	}
	for first, ask := range ask {
		for _, parents := range []bool{false, true} {
			f := func(name string, wantErr, wantCause error, end func(d *queryDeadline, cancelParent func())) {
				t.Helper()
				synctest.Test(t, func(t *testing.T) {
					parent, cancel := context.WithCancel(context.WithValue(context.Background(), key{}, 7))
					defer cancel()
					if parents { // an earlier deadline than d's
						var cancel func()
						parent, cancel = context.WithTimeout(parent, time.Second)
						defer cancel()
					}
					d := &queryDeadline{Context: parent, at: time.Now().Add(2 * time.Second), cause: why}
					want := d.at
					if parents {
						want = want.Add(-time.Second)
					}
					if at, ok := d.Deadline(); !ok || !at.Equal(want) {
						t.Errorf("%s, %s: deadline %v", first, name, at)
					}
					ask(d)
					if d.Err() != nil || context.Cause(d) != nil || d.Value(key{}) != 7 {
						t.Errorf("%s, %s: at the beginning %v", first, name, d.Err())
					}
					end(d, cancel)
					synctest.Wait()
					if err, cause := d.Err(), context.Cause(d); err != wantErr || cause != wantCause ||
						d.Value(key{}) != 7 {
						t.Errorf("%s, %s: %v because of %v, want %v because of %v", first, name, err, cause,
							wantErr, wantCause)
					}
					select {
					case <-d.Done():
					default:
						t.Errorf("%s, %s: not done", first, name)
					}
					child, cancelChild := context.WithCancel(d)
					defer cancelChild()
					if child.Err() != wantErr || context.Cause(child) != wantCause {
						t.Errorf("%s, %s: child %v because of %v", first, name, child.Err(), context.Cause(child))
					}
					d.end(nil)
				})
			}
			f("ended", context.Canceled, context.Canceled, func(d *queryDeadline, _ func()) { d.end(nil) })
			killed := &killedError{By: "anna"}
			f("killed", context.Canceled, killed, func(d *queryDeadline, _ func()) { d.end(killed) })
			f("the parent ended", context.Canceled, context.Canceled,
				func(_ *queryDeadline, cancelParent func()) { cancelParent() })
			cause := why
			if parents {
				cause = context.DeadlineExceeded
			}
			f("time is over", context.DeadlineExceeded, cause, func(*queryDeadline, func()) {
				time.Sleep(3 * time.Second)
			})
		}
	}
}

// A waiter for a queryDeadline notices its end.
func TestQueryDeadlineWakes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		why := errors.New("why")
		d := &queryDeadline{Context: context.Background(), at: time.Now().Add(time.Second), cause: why}
		defer d.end(nil)
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				child, cancel := context.WithCancel(d)
				defer cancel()
				<-child.Done()
				if context.Cause(child) != why {
					t.Error(context.Cause(child))
				}
			})
		}
		all.Wait()
	})
}
