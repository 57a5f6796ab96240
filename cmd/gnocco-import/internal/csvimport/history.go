package csvimport

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/cmd/gnocco-import/internal/requests"
	"github.com/gnocco-db/gnocco/internal/client"
	"github.com/gnocco-db/gnocco/internal/counted"
)

// sendHistory sends the rows that are older than their metrics' back windows. A request has all rows of one or more
// periods of the coarsest granularity, and the server puts them where the metric has nothing.
func (i *Importer) sendHistory(ctx context.Context, used []*metric) (err error) {
	rows := spool{runRows: rowsInMemory, byMetric: true}
	defer func() { err = errors.Join(err, rows.close()) }()
	err = i.eachRow(func(r *row) error {
		if r.time >= i.metrics[r.metric].keptFrom {
			return nil
		}
		i.result.Measures++
		return rows.add(r.time, r.value, r.metric)
	})
	if err != nil {
		return err
	}
	all, ctx := errgroup.WithContext(ctx)
	all.SetLimit(i.options.Requests)
	var next history
	flush := func() {
		if sent := next; sent.rows > 0 {
			all.Go(func() error { return sent.send(ctx, i.options.Client) })
		}
		next = history{}
	}
	var period carbonara.Timestamp
	err = rows.each(func(r *row) error {
		m := i.metrics[r.metric]
		start := r.time.Floor(m.archive.coarsest())
		if m != next.metric || start != period && next.rows >= i.options.Batch {
			flush()
			next.metric, next.body = m, []byte{'['}
		}
		next.body = appendMeasure(next.body, r.time, r.value)
		next.rows++
		period = start
		return ctx.Err()
	})
	flush()
	if failed := all.Wait(); failed != nil {
		return failed
	} else if err != nil {
		return err
	}
	for _, m := range used {
		i.result.Older += m.older - m.refused.rows
		i.result.Refused += m.refused.rows
		if m.refused.rows > 0 {
			i.options.Note(fmt.Sprintf("metric %s: %s refused: %s", m, counted.Of(m.refused.rows, "measure"),
				m.refused.reason(m)))
		}
	}
	return nil
}

// refused is what the server refused of a metric's history.
type refused struct {
	mu      sync.Mutex
	rows    int64
	periods int
	first   string // the first of these
	err     error  // of requests that it refused as a whole
}

func (r *refused) reason(m *metric) string {
	if r.err != nil {
		return r.err.Error()
	}
	return fmt.Sprintf("there it has other measures, whose raw ones are gone: %s of %v, from %s on",
		counted.Of(r.periods, "period"), m.archive.coarsest(), r.first)
}

// history is a request of one metric's history.
type history struct {
	metric *metric
	rows   int
	body   []byte
}

func (h *history) send(ctx context.Context, c *requests.Client) error {
	h.body[len(h.body)-1] = ']'
	done, err := c.Fill(ctx, h.metric.id, h.body)
	r := &h.metric.refused
	r.mu.Lock()
	defer r.mu.Unlock()
	if client.HasStatus(err, http.StatusBadRequest) || client.HasStatus(err, http.StatusRequestEntityTooLarge) {
		r.rows += int64(h.rows)
		r.err = err
		return nil
	}
	if err != nil {
		return fmt.Errorf("csvimport: history of metric %s: %w", h.metric, err)
	}
	r.rows += int64(done.Refused)
	if r.periods += len(done.RefusedBlocks); len(done.RefusedBlocks) > 0 && (r.first == "" || done.RefusedBlocks[0] < r.first) {
		r.first = done.RefusedBlocks[0]
	}
	return nil
}
