package budget_test

import (
	"context"
	"errors"
	"maps"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/gnocco-db/gnocco/internal/budget"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

const mib = 1 << 20

// Goroutines that each have a part of an Account hold together what they took and did not give, and little more; they
// get all there is, and it comes back with the Account.
func TestParts(t *testing.T) {
	registry := prometheus.NewPedanticRegistry()
	b := budget.New(40*mib, registry)
	ctx := b.Context(t.Context())
	const goroutines, pieces, taken, given = 4, 10_000, 500, 300
	held, used := 0.0, func() float64 { return sums(t, registry)["gnocco_memory_used_bytes"] }
	var all sync.WaitGroup
	for range goroutines {
		all.Go(func() {
			part := budget.Part(ctx)
			defer part.Close()
			for range pieces {
				if err := budget.Of(part).Acquire(budget.Answers, taken); err != nil {
					t.Error(err)
				}
				budget.Of(part).Release(budget.Answers, given)
			}
		})
		held += pieces * (taken - given)
	}
	all.Wait()
	if got := used(); got != held {
		t.Errorf("%v bytes are used, of %v that are held", got, held)
	}
	part := budget.Part(ctx)
	for part.Acquire(budget.Answers, 1000) == nil {
		held += 1000
	}
	if got := used(); held <= 20*mib-1000 || held > 20*mib || got < held || got > 20*mib {
		t.Errorf("an answer got %v bytes, %v are used", held, got)
	}
	part.Close()
	if got := used(); got != held {
		t.Errorf("%v bytes are used, of %v that are held", got, held)
	}
	ctx.Close()
	if got := used(); got != 0 {
		t.Errorf("%v bytes stay", got)
	}
	if part := budget.Part(t.Context()); part.Acquire(budget.Answers, 1<<40) != nil {
		t.Error("a part of no account is bounded")
	}
}

// Requests for much leave a quarter to those for little, and all comes back.
func TestSmallAccountsFindRoom(t *testing.T) {
	registry := prometheus.NewPedanticRegistry()
	b := budget.New(40*mib, registry)
	large, other := b.Account(), b.Account()
	fatal.If(t, large.Acquire(budget.Measures, 25*mib))
	if err := large.Acquire(budget.Documents, 1); !errors.Is(err, budget.ErrExhausted) {
		t.Fatalf("bodies of more than five eighths: %v", err)
	}
	if err := other.Acquire(budget.Answers, 5*mib); err != nil {
		t.Fatalf("an answer beside: %v", err)
	}
	if err := other.Acquire(budget.Answers, 1); !errors.Is(err, budget.ErrExhausted) {
		t.Fatalf("more than three quarters: %v", err)
	}
	var small []*budget.Account
	for range 10 {
		a := b.Account()
		fatal.If(t, a.Acquire(budget.Answers, mib))
		small = append(small, a)
	}
	if err := b.Account().Acquire(budget.Answers, 1); !errors.Is(err, budget.ErrExhausted) {
		t.Fatalf("beyond all: %v", err)
	}
	figures := map[string]float64{"gnocco_memory_used_bytes": 40 * mib, "gnocco_memory_budget_bytes": 40 * mib,
		"gnocco_memory_refused_total": 3}
	if got := sums(t, registry); !maps.Equal(got, figures) {
		t.Fatalf("figures: %v", got)
	}
	large.Release(budget.Measures, 100*mib) // more than it holds
	for _, a := range append(small, large) {
		a.Close()
		a.Close()
	}
	other.Close()
	if err := other.Acquire(budget.Answers, 21*mib); !errors.Is(err, budget.ErrExhausted) {
		t.Fatalf("an answer of more than half: %v", err)
	}
	if err := large.Acquire(budget.Measures, 25*mib); err != nil {
		t.Fatalf("after all came back: %v", err)
	}
}

// sums returns the metrics' values, added up over their labels.
func sums(t *testing.T, registry *prometheus.Registry) map[string]float64 {
	families, err := registry.Gather()
	fatal.If(t, err)
	sums := make(map[string]float64)
	for _, family := range families {
		for _, m := range family.Metric {
			sums[family.GetName()] += m.GetGauge().GetValue() + m.GetCounter().GetValue()
		}
	}
	return sums
}

// Requests that wait are served in the order of arrival. A request for little does not stand behind them.
func TestAwait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := budget.New(40*mib, nil)
		holder := b.Account()
		fatal.If(t, holder.Acquire(budget.Measures, 25*mib))
		order := make(chan int, 2)
		for i, bytes := range []int64{24 * mib, 2 * mib} {
			go func() {
				a := b.Account()
				defer a.Close()
				if err := a.Await(t.Context(), budget.Measures, bytes, time.Minute); err != nil {
					t.Error(err)
				}
				order <- i // before the other one gets what this one gives back
			}()
			synctest.Wait()
		}
		if err := b.Account().Await(t.Context(), budget.Measures, mib, 0); err != nil {
			t.Errorf("a small one: %v", err)
		}
		if err := b.Account().Await(t.Context(), budget.Measures, 26*mib, time.Hour); !errors.Is(err,
			budget.ErrExhausted) {
			t.Errorf("what never fits: %v", err)
		}
		if err := b.Account().Await(t.Context(), budget.Measures, 2*mib, time.Second); !errors.Is(err,
			budget.ErrExhausted) {
			t.Errorf("out of patience: %v", err)
		}
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		if err := b.Account().Await(gone, budget.Measures, 2*mib, time.Hour); !errors.Is(err, budget.ErrExhausted) {
			t.Errorf("client gone: %v", err)
		}
		holder.Close()
		if first, second := <-order, <-order; first != 0 || second != 1 {
			t.Errorf("order %d, %d", first, second)
		}
	})
}

// Without a budget nothing is bounded.
func TestNil(t *testing.T) {
	var b *budget.Budget
	a := b.Account()
	defer a.Close()
	fatal.If(t, a.Acquire(budget.Measures, 1<<60))
	fatal.If(t, a.Await(t.Context(), budget.Measures, 1<<60, 0))
	a.Release(budget.Measures, 1)
}

// A context carries its own account, also to derived contexts.
func TestContext(t *testing.T) {
	ctx := budget.New(mib, nil).Context(t.Context())
	child, cancel := context.WithCancel(ctx)
	defer cancel()
	if budget.Of(child) != &ctx.Account || budget.Of(t.Context()) != nil {
		t.Fatal("the context's account")
	}
	if err := ctx.Acquire(budget.Measures, 2*mib); !errors.Is(err, budget.ErrExhausted) {
		t.Fatal(err)
	}
	fatal.If(t, budget.Of(budget.Without(child)).Acquire(budget.Measures, 2*mib))
}

// Labels stay, and count neither as answers nor as bodies: large requests share what is left of seven eighths, and
// bodies get smaller.
func TestLabels(t *testing.T) {
	b := budget.New(40*mib, nil)
	labels, large := b.Account(), b.Account()
	fatal.If(t, labels.Acquire(budget.Labels, 15*mib))
	if n := b.LargestBody(); n != 20*mib {
		t.Errorf("a body may have %d bytes", n)
	}
	fatal.If(t, large.Acquire(budget.Answers, 20*mib))
	if err := large.Acquire(budget.Answers, 1); !errors.Is(err, budget.ErrExhausted) {
		t.Errorf("more than what is left: %v", err)
	}
	if err := labels.Acquire(budget.Labels, 1); !errors.Is(err, budget.ErrExhausted) {
		t.Errorf("labels in the part of small requests: %v", err)
	}
	if err := b.Account().Acquire(budget.Measures, mib); err != nil {
		t.Errorf("a small request: %v", err)
	}
	large.Keep(budget.Answers, 2*mib)
	if err := labels.Acquire(budget.Labels, 17*mib); err != nil {
		t.Errorf("after most came back: %v", err)
	}
	labels.Close()
	large.Close()
	if n := b.LargestBody(); n != 25*mib {
		t.Errorf("a body may have %d bytes", n)
	}
}
