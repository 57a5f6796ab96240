package server

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"gnocco/model"
)

// Who holds the index keeps the reaggregations: it goes through their metrics, has each done by who holds its sack, and writes down how
// far it has come. What was done when it ends is done once more, which changes nothing.

// reaggregating is the background work on a held index; close ends it.
type reaggregating struct {
	node  *node
	index *localIndex
	stop  context.CancelFunc
	loop  sync.WaitGroup
}

const (
	reaggregateBatch = 500             // metrics between two notes of how far one has come
	reaggregateRetry = 2 * time.Second // until what did not answer is asked again
)

func (n *node) startReaggregating(local *localIndex) *reaggregating {
	ctx, stop := context.WithCancel(context.Background())
	r := &reaggregating{node: n, index: local, stop: stop}
	r.loop.Go(func() { r.run(ctx) })
	return r
}

func (r *reaggregating) close() {
	r.stop()
	r.loop.Wait()
}

func (r *reaggregating) run(ctx context.Context) {
	var retry <-chan time.Time
	for {
		select {
		case <-ctx.Done():
			return
		case <-r.index.ReaggregationsChanged():
		case <-retry:
		}
		retry = nil
		if err := r.pass(ctx); err != nil && ctx.Err() == nil {
			r.node.logger.Warn("reaggregation waits; trying again", "error", err)
			retry = time.After(reaggregateRetry)
		}
	}
}

// pass works on all that run, by turns, until there is none, or those that are left have to wait.
func (r *reaggregating) pass(ctx context.Context) error {
	waiting := make(map[uuid.UUID]error)
	for {
		jobs, err := r.index.Reaggregations(ctx)
		if err != nil {
			return err
		}
		worked := false
		for i := len(jobs) - 1; i >= 0; i-- {
			if jobs[i].State != model.ReaggregationRunning || waiting[jobs[i].ID] != nil {
				continue
			}
			worked = true
			if err := r.work(ctx, jobs[i]); err != nil && !errors.Is(err, model.ErrInvalid) { // another by now: cancelled, or started anew
				waiting[jobs[i].ID] = err
			}
		}
		if !worked || ctx.Err() != nil {
			return errors.Join(slices.Collect(maps.Values(waiting))...)
		}
	}
}

// work does the next metrics of one, or ends it.
func (r *reaggregating) work(ctx context.Context, job *model.Reaggregation) error {
	ids, err := r.next(ctx, job)
	if err != nil {
		return err
	}
	if len(ids) > 0 {
		done, err := r.batch(ctx, ids)
		if err != nil {
			return err
		}
		job.Advance(ids[len(ids)-1], done)
		return r.index.AdvanceReaggregation(ctx, job)
	}
	if err := r.index.FinishReaggregation(ctx, job, time.Now()); err != nil {
		return err
	}
	r.node.logger.Info("reaggregated", "archive policy", job.ArchivePolicy, "metric", job.Metric, "changed", job.Changed,
		"unchanged", job.Unchanged, "failed", job.Failed, "seconds", job.Finished.Sub(job.Started).Seconds())
	return nil
}

// next returns the metrics behind those that are done.
func (r *reaggregating) next(ctx context.Context, job *model.Reaggregation) ([]uuid.UUID, error) {
	if job.Metric != uuid.Nil {
		if job.Metrics = 1; job.Cursor == job.Metric {
			return nil, nil
		}
		return []uuid.UUID{job.Metric}, nil
	}
	if job.Metrics == 0 {
		all, err := r.index.MetricsOfPolicy(ctx, job.ArchivePolicy, uuid.Nil, 0)
		if err != nil {
			return nil, err
		}
		job.Metrics = len(all)
	}
	return r.index.MetricsOfPolicy(ctx, job.ArchivePolicy, job.Cursor, reaggregateBatch)
}

// batch does some metrics, wherever their sacks are.
func (r *reaggregating) batch(ctx context.Context, ids []uuid.UUID) (done model.Reaggregated, err error) {
	generation := r.index.Store.Generation()
	metrics, err := r.index.CurrentMetrics(ids)
	if err != nil {
		return done, err
	}
	done.Unchanged = len(ids) - len(metrics) // deleted
	some, err := r.node.archives.Reaggregate(ctx, r.index.epoch, generation, metrics)
	done.Add(some)
	return done, err
}

// Reaggregate brings archives into the form of their policies, at the processes that hold their sacks, all at once. epoch and
// generation are those of the index as of which metrics have these policies.
func (a *archives) Reaggregate(ctx context.Context, epoch, generation uint64, metrics []*model.Metric) (done model.Reaggregated, err error) {
	groups, err := a.byHolder(ctx, len(metrics), func(i int) int { return model.Sack(metrics[i].ID, a.sacks) }, a.holder)
	if err != nil {
		return done, err
	}
	var mu sync.Mutex
	var all errgroup.Group
	for address, places := range groups {
		its := make([]*model.Metric, len(places))
		for i, place := range places {
			its[i] = metrics[place]
		}
		all.Go(func() error {
			var some model.Reaggregated
			var err error
			if address == "" {
				some, err = a.local.Reaggregate(ctx, its)
			} else if some, err = a.client.Reaggregate(ctx, address, epoch, generation, its); err != nil {
				for _, m := range its {
					a.holders.forget(SackName(model.Sack(m.ID, a.sacks)))
				}
			}
			mu.Lock()
			defer mu.Unlock()
			done.Add(some)
			return err
		})
	}
	return done, all.Wait()
}
