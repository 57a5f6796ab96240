package csvimport

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/model"
)

// sendHistory sends the rows that are older than their metrics' back windows to metrics of their own, and has the
// server move what these become into the metrics.
func (i *Importer) sendHistory(ctx context.Context, used []*metric) (err error) {
	var old []*metric
	defer func() {
		for _, m := range old {
			if m.history != "" {
				err = errors.Join(err, i.options.Client.DeleteMetric(context.WithoutCancel(ctx), m.history))
			}
		}
	}()
	for _, m := range used {
		if m.older == 0 {
			continue
		}
		old = append(old, m)
		history, ok, err := i.options.Client.CreateBackfill(ctx, m.id)
		if err != nil && ok {
			return fmt.Errorf("csvimport: backfill of metric %s: %w", m.name, err)
		}
		if ok {
			m.history, m.target = history, history
		} else { // the server counts them as dropped
			i.options.Note(fmt.Sprintf("metric %s: %v", m.name, err))
		}
	}
	if len(old) == 0 {
		return nil
	}
	err = i.sendRows(ctx, old, func(m *metric, t carbonara.Timestamp) bool { return t < m.keptFrom })
	if err != nil {
		return err
	}
	for _, m := range old {
		if m.history == "" {
			continue
		}
		if err := i.moveHistory(ctx, m); err != nil {
			return fmt.Errorf("csvimport: backfill of metric %s: %w", m.name, err)
		}
	}
	return nil
}

// moveHistory has the server move a metric's history, and reports the rows in periods that it refused.
func (i *Importer) moveHistory(ctx context.Context, m *metric) error {
	starts, err := i.options.Client.Backfill(ctx, m.id, m.history)
	if err != nil {
		return err
	}
	refused := make(map[carbonara.Timestamp]bool, len(starts))
	for _, text := range starts {
		start, err := model.ParseTimestamp(text, 0)
		if err != nil {
			return err
		}
		refused[start] = true
	}
	rows := int64(0)
	coarsest := m.limits.coarsest()
	if len(refused) > 0 {
		err = i.rows.each(func(r *row) error {
			if i.metrics[r.metric] == m && r.time < m.keptFrom && refused[r.time.Floor(coarsest)] {
				rows++
			}
			return nil
		})
	}
	i.result.Backfilled += m.older - rows
	if rows > 0 {
		i.result.Refused += rows
		i.options.Note(fmt.Sprintf("metric %s: %d measures were refused: they lie in %d periods of %v, from %s on, "+
			"in which it has other measures, whose raw ones are gone", m.name, rows, len(starts), coarsest, starts[0]))
	}
	return err
}

// coarsest returns the coarsest granularity.
func (l *limits) coarsest() time.Duration { return l.items[len(l.items)-1].granularity }
