package bench

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/bench/report"
	"github.com/gnocco-db/gnocco/model"
)

// readers read a metric of each sack, over and over, and remember for how long there was no answer.
type readers struct {
	stop    context.CancelFunc
	running sync.WaitGroup

	mu      sync.Mutex
	good    []time.Time     // by sack: when the request was sent that was answered last
	longest []time.Duration // by sack: between two answers
	err     error
}

const (
	readPause   = 2 * time.Millisecond
	readTimeout = 500 * time.Millisecond // after which a reader asks again: a process that stands still does not answer
)

// startReaders creates a metric in each sack, and reads them.
func (p *processes) startReaders(ctx context.Context) (*readers, error) {
	c := newClient(p.options, p.api.url, 2*benchSacks)
	ids := make([]string, benchSacks)
	for missing := benchSacks; missing > 0; {
		made, err := c.createMetrics(ctx, benchSacks)
		if err != nil {
			return nil, err
		}
		for _, id := range made {
			parsed, err := uuid.Parse(id)
			if err != nil {
				return nil, err
			}
			if sack := model.Sack(parsed, benchSacks); ids[sack] == "" {
				ids[sack] = id
				missing--
			}
		}
	}
	for _, id := range ids {
		body := fmt.Sprintf(`{%q:[{"timestamp":%q,"value":1}]}`, id, firstMeasure.Format(timestampFormat))
		if err := c.sendOne(ctx, []byte(body)); err != nil {
			return nil, err
		}
	}
	ctx, stop := context.WithCancel(ctx)
	r := &readers{stop: stop, good: make([]time.Time, benchSacks), longest: make([]time.Duration, benchSacks)}
	for sack, id := range ids {
		r.running.Go(func() { r.read(ctx, c, sack, measuresPath(id, "sum", time.Minute, time.Time{})) })
	}
	return r, nil
}

func (r *readers) read(ctx context.Context, c *client, sack int, path string) {
	for answered := time.Now(); ctx.Err() == nil; time.Sleep(readPause) {
		sent := time.Now()
		request, cancel := context.WithTimeout(ctx, readTimeout)
		err := c.do(request, http.MethodGet, path, nil, http.StatusOK, nil)
		cancel()
		var status *statusError
		switch {
		case err == nil:
			now := time.Now()
			r.mu.Lock()
			r.good[sack], r.longest[sack] = sent, max(r.longest[sack], now.Sub(answered))
			r.mu.Unlock()
			answered = now
		case ctx.Err() != nil, errors.Is(err, context.DeadlineExceeded):
		case errors.As(err, &status) && status.status == http.StatusServiceUnavailable:
		default:
			r.mu.Lock()
			r.err = errors.Join(r.err, err)
			r.mu.Unlock()
			return
		}
	}
}

// during does something and returns, by sack, the longest time without an answer from then until a while after each
// sack has answered again.
func (r *readers) during(ctx context.Context, change func() error) ([]time.Duration, error) {
	const after = 1500 * time.Millisecond
	r.mu.Lock()
	clear(r.longest)
	r.mu.Unlock()
	if err := change(); err != nil {
		return nil, err
	}
	for from := time.Now().Add(after); ; time.Sleep(5 * time.Millisecond) {
		answered := true
		r.mu.Lock()
		for _, at := range r.good {
			answered = answered && at.After(from)
		}
		longest, err := append([]time.Duration(nil), r.longest...), r.err
		r.mu.Unlock()
		switch {
		case err != nil:
			return nil, err
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case answered:
			return longest, nil
		case time.Since(from) > visibleWait/10:
			return nil, errors.New("a sack does not answer any more")
		}
	}
}

func (r *readers) close() {
	r.stop()
	r.running.Wait()
}

// unavailable are the figures of the sacks chosen: nil for all.
func unavailable(longest []time.Duration, sacks []int) []report.Figure {
	chosen := append([]time.Duration(nil), longest...)
	if sacks != nil {
		chosen = chosen[:0]
		for _, sack := range sacks {
			chosen = append(chosen, longest[sack])
		}
	}
	worst, median := report.Quantile(chosen, 1), report.Quantile(chosen, 0.5)
	return []report.Figure{report.Of(float64(worst.Nanoseconds()), "ns/op"),
		report.Of(report.Milliseconds(median), "ms-median-sack"),
		report.Of(report.Milliseconds(worst), "ms-worst-sack")}
}
