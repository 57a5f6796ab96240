package budget_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gnocco-db/gnocco/internal/budget"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

// Refused answers wait in the order of arrival, without memory, for twice the refused bytes. Only small answers
// overtake them. Bodies do not stand behind them.
func TestAwaitRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := budget.New(40*mib, nil) // answers have 20 MiB
		holder := b.Account()
		fatal.If(t, holder.Acquire(budget.Answers, 15*mib))
		order := make(chan int, 2)
		var all sync.WaitGroup
		for i, bytes := range [][2]int64{{3 * mib, 7 * mib}, {mib, 2 * mib}} {
			all.Go(func() {
				a := b.Account()
				defer a.Close()
				if err := a.Acquire(budget.Answers, bytes[0]); err != nil {
					t.Error(err)
				}
				if err := a.Acquire(budget.Answers, bytes[1]); err != budget.ErrExhausted {
					t.Errorf("refused by %v", err)
				}
				if err := a.AwaitRefused(t.Context()); err != nil {
					t.Error(err)
				}
				if held := a.Held(budget.Answers); held != 0 {
					t.Errorf("%d bytes stayed", held)
				}
				order <- i // before the other one gets what this one gives back
				time.Sleep(time.Second)
				if err := a.Acquire(budget.Answers, 2*(bytes[0]+bytes[1])); err != nil { // all that is reserved
					t.Error(err)
				}
				a.Release(budget.Answers, mib)
				if err := a.Acquire(budget.Answers, mib); err != nil {
					t.Error(err)
				}
			})
			synctest.Wait()
		}
		newcomer := b.Account()
		if err := newcomer.Acquire(budget.Answers, 2*mib); err != budget.ErrExhausted {
			t.Errorf("a large answer overtakes: %v", err)
		}
		if err := newcomer.Acquire(budget.Answers, mib); err != nil {
			t.Errorf("a small one: %v", err)
		}
		newcomer.Close()
		body := b.Account()
		if err := body.Await(t.Context(), budget.Measures, 12*mib, 0); err != nil {
			t.Errorf("a body: %v", err)
		}
		body.Close()
		holder.Close()
		if first, second := <-order, <-order; first != 0 || second != 1 {
			t.Errorf("order %d, %d", first, second)
		}
		all.Wait()
	})
	b := budget.New(40*mib, nil)
	a := b.Account()
	if err := a.AwaitRefused(t.Context()); err != budget.ErrExhausted {
		t.Errorf("nothing was refused: %v", err)
	}
}

// Out of time, or of the client, the wait ends and those behind are served. Reservations come back.
func TestAwaitRefusedEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := budget.New(40*mib, nil)
		holder := b.Account()
		fatal.If(t, holder.Acquire(budget.Answers, 12*mib))
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		var all sync.WaitGroup
		large, small := b.Account(), b.Account()
		_ = large.Acquire(budget.Answers, 9*mib)
		_ = small.Acquire(budget.Answers, 9*mib)
		all.Go(func() {
			if err := large.AwaitRefused(ctx); err != budget.ErrExhausted {
				t.Errorf("out of time: %v", err)
			}
		})
		synctest.Wait()
		all.Go(func() {
			if err := small.AwaitRefused(t.Context()); err != nil {
				t.Error(err)
			}
		})
		all.Go(func() {
			time.Sleep(2 * time.Second)
			holder.Release(budget.Answers, 10*mib) // so that 18 fit
		})
		all.Wait()
		small.Unreserve()
		if err := holder.Acquire(budget.Answers, 18*mib); err != nil {
			t.Errorf("after it came back: %v", err)
		}
	})
}

// An answer that never fits says what it needs and what there is, also beside what its request's body takes.
func TestTooLarge(t *testing.T) {
	b := budget.New(40*mib, nil)
	f := func(document, answer, most int64) {
		t.Helper()
		a := b.Account()
		defer a.Close()
		fatal.If(t, a.Acquire(budget.Documents, document))
		if got := a.MostAnswers(); got != most {
			t.Errorf("an answer may have %d bytes", got)
		}
		fatal.If(t, a.Acquire(budget.Answers, mib))
		err := a.Acquire(budget.Answers, answer)
		var tooLarge *budget.TooLargeError
		if fits := answer+mib <= most; fits != (err == nil) {
			t.Errorf("%d bytes: %v", answer, err)
		} else if !fits && (!errors.As(err, &tooLarge) || tooLarge.Need != answer+mib || tooLarge.Most != most ||
			tooLarge.Use != budget.Answers || !errors.Is(err, budget.ErrExhausted)) {
			t.Errorf("%d bytes: %v", answer, err)
		}
	}
	f(0, 19*mib, 20*mib)
	f(0, 19*mib+1, 20*mib)
	f(15*mib, 14*mib, 15*mib)
	f(15*mib, 14*mib+1, 15*mib)
}
