package promql

import (
	"context"
	"runtime"
	"sync"
	"testing"

	"github.com/gnocco-db/gnocco/internal/budget"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

// Goroutines that read series take memory of their query some at a time: one acquisition of the process's budget lasts
// for 16 KiB, however many series that is.
func TestSeriesShareAcquisitions(t *testing.T) {
	const count, each, step = 10_000, 64, 16 << 10
	all := make([]*series, count)
	for i := range all {
		all[i] = &series{place: i}
	}
	request := budget.New(1<<30, nil).Context(t.Context())
	defer request.Close()
	var mu sync.Mutex
	amounts := map[int64]bool{} // that the query held
	fatal.If(t, eachRun(request, all, func(ctx context.Context, _ *scratch, run []*series) error {
		for range run {
			if err := budget.Of(ctx).Acquire(budget.Answers, each); err != nil {
				return err
			}
			mu.Lock()
			amounts[request.Held(budget.Answers)] = true
			mu.Unlock()
		}
		return nil
	}))
	if most := count*each/step + 2*runtime.GOMAXPROCS(0); len(amounts) > most {
		t.Errorf("%d series of %d bytes acquired memory %d times, more than %d", count, each, len(amounts), most)
	}
	if held := request.Held(budget.Answers); held < count*each {
		t.Errorf("the query holds %d bytes for %d that were not released", held, count*each)
	}
}
