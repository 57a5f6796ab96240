package cluster

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/internal/pause"
	"github.com/gnocco-db/gnocco/metricd/latetypes"
	"github.com/gnocco-db/gnocco/model"
)

// The holder of the index keeps the rebuilds. It goes through their metrics, has each rebuilt by the holder of its
// sack, and writes down how far it has come. The batch in work when the process ends is rebuilt once more, which
// changes nothing.

// rebuilding is the background work on a held index.
type rebuilding struct {
	index    *localIndex
	types    latetypes.Mover
	archives *Router
	logger   *slog.Logger
	stop     func()
	due      time.Time // when the first plan starts, or zero
}

const (
	rebuildBatch = 500             // metrics between two notes of a rebuild's progress
	rebuildRetry = 2 * time.Second // until a process that did not answer is asked again
)

func startRebuilding(local *localIndex, archives *Router, logger *slog.Logger) *rebuilding {
	r := &rebuilding{index: local, archives: archives, logger: logger}
	r.types = latetypes.Mover{Index: local.Store, Rebuild: r.batch, Logger: logger}
	r.stop = pause.Go(r.run)
	return r
}

func (r *rebuilding) run(ctx context.Context) {
	var retry <-chan time.Time
	for {
		select {
		case <-ctx.Done():
			return
		case <-r.index.RebuildsChanged():
		case <-retry:
		}
		retry = nil
		if err := errors.Join(r.types.Work(ctx), r.reconcile(ctx)); err != nil && ctx.Err() == nil {
			r.logger.Warn("rebuild waits; trying again", "error", err)
			retry = time.After(rebuildRetry)
		} else if !r.due.IsZero() {
			retry = time.After(max(0, time.Until(r.due)))
		}
	}
}

// reconcile works on all running rebuilds, by turns, until none is left, or those left have to wait. It starts plans
// whose time has come.
func (r *rebuilding) reconcile(ctx context.Context) error {
	waiting := make(map[uuid.UUID]error)
	for {
		jobs, err := r.index.Rebuilds(ctx)
		if err != nil {
			return err
		}
		worked := false
		r.due = time.Time{}
		for i := len(jobs) - 1; i >= 0; i-- {
			id, state, work := jobs[i].ID, jobs[i].State, r.work
			if state == model.RebuildPlanned && jobs[i].Started.After(time.Now()) {
				r.due = jobs[i].Started
				break // others start later, or do not run
			}
			if state == model.RebuildPlanned {
				work = r.start
			} else if state != model.RebuildRunning || id == model.RebuildOfLateTypes {
				continue
			}
			if waiting[id] != nil {
				continue
			}
			worked = true
			// An invalid rebuild has become another one: it was cancelled, or started anew.
			if err := work(ctx, jobs[i]); err != nil && !errors.Is(err, model.ErrInvalid) {
				waiting[id] = err
			}
		}
		if !worked || ctx.Err() != nil {
			return errors.Join(slices.Collect(maps.Values(waiting))...)
		}
	}
}

// start changes the metric of a plan. A plan without its metric or archive policy ends.
func (r *rebuilding) start(ctx context.Context, plan *model.Rebuild) error {
	err := r.index.StartPlan(ctx, plan, time.Now())
	if errors.Is(err, model.ErrNotFound) {
		r.logger.Warn("planned change is impossible", "metric", plan.Metric, "error", err)
		_, err = r.index.CancelRebuild(ctx, plan.ID, time.Now())
	}
	return err
}

// work rebuilds the next metrics of one rebuild, or ends it.
func (r *rebuilding) work(ctx context.Context, job *model.Rebuild) error {
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
		return r.index.AdvanceRebuild(ctx, job)
	}
	if err := r.index.FinishRebuild(ctx, job, time.Now()); err != nil {
		return err
	}
	r.logger.Info("rebuilt", "archive_policy", job.ArchivePolicy, "metric", job.Metric, "changed", job.Changed,
		"unchanged", job.Unchanged, "failed", job.Failed, "seconds", job.Finished.Sub(job.Started).Seconds())
	return nil
}

// next returns the metrics behind the cursor.
func (r *rebuilding) next(ctx context.Context, job *model.Rebuild) ([]uuid.UUID, error) {
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
	return r.index.MetricsOfPolicy(ctx, job.ArchivePolicy, job.Cursor, rebuildBatch)
}

// batch rebuilds some metrics, wherever their sacks are.
func (r *rebuilding) batch(ctx context.Context, ids []uuid.UUID) (done model.RebuildCounts, err error) {
	generation := r.index.Store.Generation()
	metrics, err := r.index.CurrentMetrics(ids)
	if err != nil {
		return done, err
	}
	done.Unchanged = len(ids) - len(metrics) // deleted
	some, err := r.archives.Rebuild(ctx, r.index.epoch, generation, metrics)
	done.Add(&some)
	return done, err
}
