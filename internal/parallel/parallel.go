package parallel

import (
	"cmp"
	"context"
	"iter"
	"runtime"
	"sync/atomic"

	"golang.org/x/sync/errgroup"
)

// Workers returns among how many goroutines n jobs that only compute are best divided: one for each core at most.
func Workers(n int) int { return min(n, runtime.GOMAXPROCS(0)) }

type half struct{}

// Half returns a context in which Run takes half of the cores at most, for work that nobody waits for: those that read
// meanwhile find the others free.
func Half(ctx context.Context) context.Context { return context.WithValue(ctx, half{}, true) }

// Run does jobs 0 to n-1. Each of so many workers is a goroutine that calls work once; a single one is the caller's.
// The jobs that a worker gets are those that no other has begun. After an error, and after the end of ctx, no more jobs
// begin; Run waits for the workers and returns the first error, or why ctx ended.
func Run(ctx context.Context, workers, n int,
	work func(ctx context.Context, worker int, jobs iter.Seq[int]) error) error {
	var next atomic.Int64
	jobs := func(ctx context.Context) iter.Seq[int] {
		return func(yield func(int) bool) {
			for ctx.Err() == nil {
				if i := int(next.Add(1)) - 1; i >= n || !yield(i) {
					return
				}
			}
		}
	}
	if ctx.Value(half{}) != nil {
		workers = min(workers, runtime.GOMAXPROCS(0)/2)
	}
	if workers <= 1 {
		return cmp.Or(work(ctx, 0, jobs(ctx)), context.Cause(ctx))
	}
	group, shared := errgroup.WithContext(ctx)
	for w := range workers {
		group.Go(func() error { return work(shared, w, jobs(shared)) })
	}
	return cmp.Or(group.Wait(), context.Cause(ctx))
}

// Each calls f for 0 to n-1 as Run does.
func Each(workers, n int, f func(i int) error) error {
	return Run(context.Background(), workers, n, func(_ context.Context, _ int, jobs iter.Seq[int]) error {
		for i := range jobs {
			if err := f(i); err != nil {
				return err
			}
		}
		return nil
	})
}
