package bench

import (
	"bytes"
	"context"
	"fmt"
	"time"

	"github.com/gnocco-db/gnocco/internal/pause"
)

// visibleWait is how long measures may take to become aggregates; Gnocchi makes some hundreds a second.
const visibleWait = 30 * time.Minute

// sampleSize is how many series are checked, spread over all.
const sampleSize = 20

// sample returns the series to check.
func (w *workload) sample() []int {
	n := min(sampleSize, len(w.values))
	chosen := make([]int, n)
	for i := range chosen {
		chosen[i] = i * len(w.values) / n
		if meter := chosen[i]/len(meters)*len(meters) + i%len(meters); meter < len(w.values) {
			chosen[i] = meter // so that every kind of meter is checked
		}
	}
	return chosen
}

// verify reads the sampled series by the given methods at all granularities and tells the first wrong answer.
func (w *workload) verify(ctx context.Context, c *client, ids []string, methods ...string) error {
	type check struct {
		series int
		method string
	}
	var checks []check
	for _, s := range w.sample() {
		for _, m := range methods {
			checks = append(checks, check{s, m})
		}
	}
	return c.spread(ctx, len(checks), func(ctx context.Context, i int, _ *bytes.Buffer) error {
		s, method := checks[i].series, checks[i].method
		for _, g := range granularities {
			rows, err := c.measures(ctx, measuresPath(ids[s], method, g.width, time.Time{}))
			if err != nil {
				return err
			}
			if err := compare(w.expect(w.values[s], g.width), method, g.width, rows); err != nil {
				return &wrongAnswer{fmt.Errorf("series %d, metric %s, %s at %v: %w", s, ids[s], method, g.width, err)}
			}
		}
		return nil
	})
}

// wrongAnswer is an answer that differs from the sent measures; it may become right while measures wait.
type wrongAnswer struct{ error }

// awaitVisible returns once nothing waits and the sampled series answer the right count and sum. The time returned is
// when the backlog was found empty by the poll after which all answers were right: the checks' own time is not in it.
// atEmpty is called at that moment.
func (w *workload) awaitVisible(ctx context.Context, c *client, ids []string, atEmpty func()) (time.Time, error) {
	begun := time.Now()
	var wrongSince time.Time // while nothing waits; zero if it was right or something waited
	for wait := time.Millisecond; ; wait = min(wait*5/4, 200*time.Millisecond) {
		backlog, err := c.backlog(ctx)
		if err != nil {
			return time.Time{}, err
		}
		empty := time.Now()
		var wrong error
		if backlog == 0 {
			atEmpty()
			wrong = w.verify(ctx, c, ids, "count", "sum")
			if wrong == nil {
				return empty, nil
			}
			if _, ok := wrong.(*wrongAnswer); !ok {
				return time.Time{}, wrong
			}
		}
		waited := time.Since(begun)
		if waited > visibleWait {
			return time.Time{}, fmt.Errorf("bench: measures not visible after %v: backlog %d, %v",
				visibleWait, backlog, wrong)
		}
		if backlog > 0 {
			wrongSince = time.Time{}
		} else if wrongSince.IsZero() {
			wrongSince = empty
		} else if empty.Sub(wrongSince) > wrongWait {
			return time.Time{}, fmt.Errorf("bench: nothing waits any more, but %w", wrong)
		}
		if err := pause.For(ctx, wait); err != nil {
			return time.Time{}, err
		}
	}
}

// wrongWait is how long answers may be wrong while nothing waits: Gnocchi lists a backlog that it is working on as
// empty for a moment.
const wrongWait = time.Minute
