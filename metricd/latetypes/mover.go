package latetypes

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/storage/index"
)

// A Mover moves the series of an open index. It is for one goroutine.
type Mover struct {
	Index *index.Store
	// Rebuild gives the archives of metrics the schema of their policies, wherever they are.
	Rebuild func(ctx context.Context, ids []uuid.UUID) (model.RebuildCounts, error)
	Logger  *slog.Logger

	loaded  bool
	running bool // the rebuild
	late    index.LateTypes
}

const (
	mostMoved   = 10_000 // until archives follow: one checkpoint of a sack then serves many
	movedAtOnce = 1000   // in one write
)

// Work moves all series that have to move by now, and has their archives follow. After an error the next call looks at
// all names again.
func (m *Mover) Work(ctx context.Context) (err error) {
	defer func() { m.loaded = m.loaded && err == nil }()
	if err := m.load(ctx); err != nil {
		return err
	}
	for m.take(); len(m.late.Names)+len(m.late.Changed) > 0; m.take() {
		if err := m.move(ctx); err != nil {
			return err
		}
		if err := m.follow(ctx); err != nil {
			return err
		}
	}
	if m.running {
		err = m.Index.FinishChanges(ctx, model.RebuildOfLateTypes, nil, model.RebuildCounts{}, true, time.Now())
		m.running = err != nil
	}
	return err
}

// take takes what came since the last call.
func (m *Mover) take() {
	late := m.Index.TakeLateTypes()
	if m.late.Names == nil {
		m.late.Names = make(map[index.SeriesName]bool)
	}
	maps.Copy(m.late.Names, late.Names)
	m.late.Changed = append(m.late.Changed, late.Changed...)
}

// load takes all names of metadata, and the moves that were under way when the index was closed.
func (m *Mover) load(ctx context.Context) error {
	if m.loaded {
		return nil
	}
	m.take()
	err := m.Index.EachMetadata(ctx, func(project string, one model.Metadata) {
		if one.Kind == "counter" {
			m.late.Names[index.SeriesName{Project: project, Name: one.Name}] = true
		}
	})
	if err != nil {
		return err
	}
	job, err := m.Index.Rebuild(model.RebuildOfLateTypes)
	if err != nil && !errors.Is(err, model.ErrNotFound) {
		return err
	}
	if m.running = job != nil && job.State == model.RebuildRunning; m.running {
		pending, err := m.Index.ListMetrics(ctx, index.MetricQuery{ArchivePolicyName: &job.ArchivePolicy,
			Visible: func(one *model.Metric) bool { return one.OwnSchemaPending && one.Labels != "" }})
		if err != nil {
			return err
		}
		m.late.Changed = idsOf(pending)
	}
	m.loaded = true
	return nil
}

// move moves series, until there are none, or archives should follow.
func (m *Mover) move(ctx context.Context) error {
	from, to, err := policies(ctx, m.Index, m.Logger)
	if err != nil {
		return err
	}
	if from == nil {
		clear(m.late.Names)
	}
	for len(m.late.Names) > 0 && len(m.late.Changed) < mostMoved {
		isLate := lateBy(m.Index, from.Name, model.SeriesType.Grows)
		ids, err := m.named(ctx, from.Name, isLate)
		if err == nil && len(ids) > 0 {
			err = m.Index.ChangeMetrics(ctx, ids, isLate, to.Name, model.RebuildOfLateTypes, time.Now())
		}
		if err != nil {
			return err
		}
		m.take()
	}
	return nil
}

// Growing moves series whose first measures never fell, but for resets, if their type is not known otherwise.
func Growing(ctx context.Context, store *index.Store, ids []uuid.UUID, logger *slog.Logger) error {
	from, to, err := policies(ctx, store, logger)
	if err != nil || from == nil {
		return err
	}
	isLate := lateBy(store, from.Name, func(t model.SeriesType) bool { return t.Grows() || t == model.UnknownType })
	for some := range slices.Chunk(ids, movedAtOnce) {
		if err := store.ChangeMetrics(ctx, some, isLate, to.Name, model.RebuildOfLateTypes, time.Now()); err != nil {
			return err
		}
	}
	return nil
}

// policies returns the archive policy of new series and that of counters, which is created if it is not there; nil if
// no series has the first one, or the second one would lose aggregates.
func policies(ctx context.Context, store *index.Store, logger *slog.Logger) (from, to *model.ArchivePolicy,
	err error) {
	if from, err = store.ArchivePolicy(model.SeriesArchivePolicy().Name); err != nil {
		if errors.Is(err, model.ErrNotFound) {
			err = nil
		}
		return nil, nil, err
	}
	to = model.CounterArchivePolicy(from)
	there, err := store.ArchivePolicy(to.Name)
	if errors.Is(err, model.ErrNotFound) {
		if err = store.CreateArchivePolicy(ctx, to); err == nil || errors.Is(err, model.ErrExists) { // by another sack
			there, err = store.ArchivePolicy(to.Name)
		}
	}
	if err != nil {
		return nil, nil, err
	}
	if p := model.PreviewRebuild(from, there); p.Loses() {
		logger.Warn("counters whose types came late keep their archive policy: that of counters lacks what it has",
			"archive_policy", from.Name, "counters", to.Name, "granularities", p.Removed, "methods", p.Dropped)
		return nil, nil, nil
	}
	return from, there, nil
}

// lateBy returns which series of a policy have to move: those without a set type whose type by metadata and name moves
// them.
func lateBy(store *index.Store, policy string, moves func(model.SeriesType) bool) func(*model.Metric) bool {
	kinds := make(map[index.SeriesName]string)
	return func(one *model.Metric) bool {
		return one.Labels != "" && one.Type == "" && one.ArchivePolicy.Name == policy &&
			moves(model.TypeOfLabels(one.Labels, func(name string) string {
				n := index.SeriesName{Project: model.ProjectOf(one.Creator), Name: name}
				kind, ok := kinds[n]
				if !ok {
					kind = store.MetadataKind(n)
					kinds[n] = kind
				}
				return kind
			}))
	}
}

// named takes names and returns series of them that have to move.
func (m *Mover) named(ctx context.Context, policy string, isLate func(*model.Metric) bool) (ids []uuid.UUID,
	err error) {
	for name := range m.late.Names {
		limit := movedAtOnce - len(ids)
		found, err := m.Index.ListMetrics(ctx, index.MetricQuery{Name: &name.Name, ArchivePolicyName: &policy,
			Limit: limit, Visible: func(one *model.Metric) bool {
				return model.ProjectOf(one.Creator) == name.Project && isLate(one)
			}})
		if err != nil {
			return nil, err
		}
		if ids = append(ids, idsOf(found)...); len(found) == limit {
			return ids, nil // the name may have more, once these are moved
		}
		delete(m.late.Names, name)
	}
	return ids, nil
}

// follow has the archives of moved series follow.
func (m *Mover) follow(ctx context.Context) error {
	some := m.late.Changed[:min(len(m.late.Changed), mostMoved)]
	if len(some) == 0 {
		return nil
	}
	m.running = true
	done, err := m.Rebuild(ctx, some)
	if err != nil {
		return err
	}
	counts := done
	for ids := range slices.Chunk(some, movedAtOnce) {
		if done.Failed > 0 {
			ids = nil // their schemas stay pending: each archive tells its own
		}
		if err := m.Index.FinishChanges(ctx, model.RebuildOfLateTypes, ids, counts, false, time.Now()); err != nil {
			return err
		}
		counts = model.RebuildCounts{}
	}
	m.late.Changed = m.late.Changed[len(some):]
	m.Logger.Info("series proved to be counters, and have their archive policy now", "series", len(some),
		"rebuilt", done.Changed, "failed", done.Failed, "groups_without", done.Unknown.Groups)
	return nil
}

func idsOf(metrics []*model.Metric) []uuid.UUID {
	ids := make([]uuid.UUID, len(metrics))
	for i, one := range metrics {
		ids[i] = one.ID
	}
	return ids
}
