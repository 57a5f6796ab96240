package budget_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/gnocco-db/gnocco/internal/budget"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

// holding returns an Account that holds memory for answers.
func holding(t *testing.T, b *budget.Budget, bytes int64) *budget.Account {
	t.Helper()
	a := b.Account()
	fatal.If(t, a.Acquire(budget.Answers, bytes))
	return a
}

// refuse makes the Account ask for an answer that others leave no room for.
func refuse(t *testing.T, a *budget.Account, bytes int64) {
	t.Helper()
	if err := a.Acquire(budget.Answers, bytes); err != budget.ErrExhausted {
		t.Fatalf("%d bytes: %v, want %v", bytes, err, budget.ErrExhausted)
	}
}

// await waits in the background for the refused memory. The channel gets the result.
func await(ctx context.Context, a *budget.Account) <-chan error {
	result := make(chan error, 1)
	go func() { result <- a.AwaitRefused(ctx) }()
	synctest.Wait()
	return result
}

// require fails unless the wait has ended with memory, now.
func require(t *testing.T, result <-chan error, whose string) {
	t.Helper()
	synctest.Wait()
	select {
	case err := <-result:
		if err != nil {
			t.Errorf("%s: %v", whose, err)
		}
	default:
		t.Errorf("%s: still waits", whose)
	}
}

// A body stands behind those that wait, although it would fit.
func TestBodiesWaitBehindOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		registry := prometheus.NewPedanticRegistry()
		b := budget.New(40*mib, registry) // bodies have 25 MiB
		holder, first, second := b.Account(), b.Account(), b.Account()
		fatal.If(t, holder.Acquire(budget.Measures, 20*mib))
		got := make(chan error, 1)
		go func() { got <- first.Await(t.Context(), budget.Measures, 10*mib, time.Minute) }()
		synctest.Wait()
		if err := second.Await(t.Context(), budget.Measures, 4*mib, time.Second); err != budget.ErrExhausted {
			t.Errorf("the second: %v, want %v", err, budget.ErrExhausted)
		}
		if n := sums(t, registry)["gnocco_memory_refused_total"]; n != 1 {
			t.Errorf("%v were refused, want 1", n)
		}
		holder.Close()
		require(t, got, "the first")
	})
}

// A body that will fit at no time fails at once, and counts as refused.
func TestBodiesThatNeverFit(t *testing.T) {
	f := func(limit, held, bytes int64) {
		t.Helper()
		synctest.Test(t, func(t *testing.T) {
			registry := prometheus.NewPedanticRegistry()
			b, began := budget.New(limit, registry), time.Now()
			a := b.Account()
			fatal.If(t, a.Acquire(budget.Measures, held))
			err := a.Await(t.Context(), budget.Measures, bytes, time.Hour)
			if !errors.Is(err, budget.ErrExhausted) || time.Since(began) > 0 {
				t.Errorf("%d bytes, and %d: %v after %v", held, bytes, err, time.Since(began))
			}
			if n := sums(t, registry)["gnocco_memory_refused_total"]; n != 1 {
				t.Errorf("%v were refused, want 1", n)
			}
		})
	}
	f(40*mib, 0, 25*mib+1)
	f(40*mib, 20*mib, 6*mib) // with the memory it holds
	f(1<<10, 0, 2<<10)       // small, and yet more than all
}

// A waiting answer holds no memory, not even a reservation of an earlier wait.
func TestWaitersHoldNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		registry := prometheus.NewPedanticRegistry()
		b := budget.New(40*mib, registry) // answers have 20 MiB
		holder, a := holding(t, b, 19*mib), b.Account()
		refuse(t, a, 2*mib)
		result := await(t.Context(), a)
		holder.Release(budget.Answers, 15*mib)
		require(t, result, "the first wait")
		if err := a.AwaitRefused(t.Context()); err != budget.ErrExhausted {
			t.Errorf("nothing was refused since: %v", err)
		}
		fatal.If(t, holder.Acquire(budget.Answers, 12*mib))
		refuse(t, a, 5*mib)
		result = await(t.Context(), a)
		if used := sums(t, registry)["gnocco_memory_used_bytes"]; used != 16*mib {
			t.Errorf("%v bytes are in use, want the holder's 16 MiB", used)
		}
		holder.Close()
		require(t, result, "the second wait")
	})
}

// An answer of more than half of the memory for answers waits for all of it, not for twice its size.
func TestLargeAnswersAreGranted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := budget.New(40*mib, nil)
		holder, a := holding(t, b, 10*mib), b.Account()
		refuse(t, a, 12*mib)
		result := await(t.Context(), a)
		holder.Close()
		require(t, result, "the large one")
		a.Close()
	})
}

// Memory that a waiter gives back, an unused reservation, and the end of a wait serve those behind.
func TestThoseBehindAreServed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := budget.New(40*mib, nil)
		holder, second, first := holding(t, b, 3*mib), holding(t, b, 12*mib), b.Account()
		refuse(t, first, 6*mib)
		gotFirst := await(t.Context(), first) // 12 MiB
		refuse(t, second, 6*mib)
		gotSecond := await(t.Context(), second) // all, and gives back 12 MiB
		require(t, gotFirst, "the first, after the second gave back what it held")
		holder.Close()
		first.Unreserve()
		require(t, gotSecond, "the second, after the first was done")
	})
	synctest.Test(t, func(t *testing.T) {
		b := budget.New(40*mib, nil)
		large, small := b.Account(), b.Account()
		holder := holding(t, b, 12*mib)
		defer holder.Close()
		refuse(t, large, 10*mib)
		ctx, cancel := context.WithCancel(t.Context())
		gotLarge := await(ctx, large)
		refuse(t, small, 9*mib)
		gotSmall := await(t.Context(), small)  // 18 MiB
		holder.Release(budget.Answers, 10*mib) // 18 MiB are left, too few for the large one
		cancel()
		if err := <-gotLarge; err != budget.ErrExhausted {
			t.Errorf("the large one: %v, want %v", err, budget.ErrExhausted)
		}
		require(t, gotSmall, "the small one, after the large one had left")
	})
}

// A client may leave at the moment of the grant: an error never comes with memory, and success never without.
func TestGrantedWhileLeaving(t *testing.T) {
	for range 500 {
		synctest.Test(t, func(t *testing.T) {
			registry := prometheus.NewPedanticRegistry()
			b := budget.New(40*mib, registry)
			holder, a := holding(t, b, 15*mib), b.Account()
			refuse(t, a, 8*mib)
			ctx, cancel := context.WithCancel(t.Context())
			result := await(ctx, a)
			cancel()
			holder.Close()
			err := <-result
			if used := sums(t, registry)["gnocco_memory_used_bytes"]; (err == nil) != (used == 16*mib) {
				t.Fatalf("%v, and %v bytes are in use", err, used)
			}
		})
	}
}

// Reserved memory can be taken, even if small answers have filled up the rest meanwhile.
func TestReservedIsThere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := budget.New(40*mib, nil)
		holder, a := holding(t, b, 16*mib), b.Account()
		refuse(t, a, 5*mib)
		result := await(t.Context(), a)
		holder.Close()
		require(t, result, "the wait")
		for range 12 { // 22 MiB for answers in all
			holding(t, b, mib)
		}
		if err := a.Acquire(budget.Answers, 10*mib); err != nil {
			t.Errorf("what is reserved: %v", err)
		}
	})
}

// Small accounts may have all of a small budget.
func TestSmallBudget(t *testing.T) {
	a := budget.New(mib, nil).Account()
	if most := a.MostAnswers(); most != mib {
		t.Errorf("an answer may have %d bytes, want %d", most, mib)
	}
	if err := a.Acquire(budget.Answers, mib); err != nil {
		t.Error(err)
	}
}
