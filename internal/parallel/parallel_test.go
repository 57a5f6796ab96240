package parallel_test

import (
	"context"
	"errors"
	"iter"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/gnocco-db/gnocco/internal/parallel"
)

func TestEachJobIsDoneOnce(t *testing.T) {
	for _, workers := range []int{0, 1, 2, 7} {
		for _, n := range []int{0, 1, 2, 100} {
			counts := make([]atomic.Int32, n)
			if err := parallel.Each(workers, n, func(i int) error { counts[i].Add(1); return nil }); err != nil {
				t.Fatal(err)
			}
			for i := range counts {
				if got := counts[i].Load(); got != 1 {
					t.Errorf("%d workers did job %d of %d %d times", workers, i, n, got)
				}
			}
		}
	}
}

// Work that nobody waits for leaves half of the cores alone.
func TestHalf(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(6))
	for _, c := range []struct{ workers, want int }{{1, 1}, {2, 2}, {3, 3}, {4, 3}, {100, 3}} {
		var started atomic.Int32
		work := func(_ context.Context, _ int, jobs iter.Seq[int]) error {
			started.Add(1)
			for range jobs {
			}
			return nil
		}
		err := parallel.Run(parallel.Half(t.Context()), c.workers, 100, work)
		if got := int(started.Load()); got != c.want || err != nil {
			t.Errorf("%d of %d workers (%v), want %d", got, c.workers, err, c.want)
		}
	}
}

// Workers run at the same time, each under a number of its own: all wait for the last.
func TestWorkers(t *testing.T) {
	var all sync.WaitGroup
	all.Add(4)
	var mu sync.Mutex
	var numbers []int
	err := parallel.Run(t.Context(), 4, 100, func(_ context.Context, worker int, _ iter.Seq[int]) error {
		mu.Lock()
		numbers = append(numbers, worker)
		mu.Unlock()
		all.Done()
		all.Wait()
		return nil
	})
	slices.Sort(numbers)
	if want := []int{0, 1, 2, 3}; err != nil || !slices.Equal(numbers, want) {
		t.Errorf("workers %v, %v; want %v", numbers, err, want)
	}
}

// After an error, and after the end of the context, no job begins.
func TestEndsEarly(t *testing.T) {
	failure := errors.New("failure")
	for _, workers := range []int{1, 4} {
		var begun atomic.Int32
		err := parallel.Run(t.Context(), workers, 1000,
			func(ctx context.Context, _ int, jobs iter.Seq[int]) error {
				for i := range jobs {
					begun.Add(1)
					if i == 5 {
						return failure
					}
					if i > 5 {
						<-ctx.Done()
					}
				}
				return nil
			})
		if got := begun.Load(); !errors.Is(err, failure) || got > 20 {
			t.Errorf("%d workers began %d jobs, %v", workers, got, err)
		}

		ctx, cancel := context.WithCancelCause(t.Context())
		begun.Store(0)
		err = parallel.Run(ctx, workers, 1000, func(_ context.Context, _ int, jobs iter.Seq[int]) error {
			for range jobs {
				begun.Add(1)
				cancel(failure)
			}
			return nil
		})
		if got := begun.Load(); !errors.Is(err, failure) || got > 4 {
			t.Errorf("%d workers began %d jobs after the end, %v", workers, got, err)
		}
	}
}
