package cluster

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/cluster/datafolder"
	"github.com/gnocco-db/gnocco/cluster/peer"
	"github.com/gnocco-db/gnocco/internal/pause"
	"github.com/gnocco-db/gnocco/metricd"
	"github.com/gnocco-db/gnocco/metricd/changes"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/query"
	"github.com/gnocco-db/gnocco/storage/archive"
)

// All operations on archives: each is described, and then asked for by a method of the Router.

var sizes = register(operation[nothing, []model.ArchiveSize]{
	name: "sizes", merge: inOrder[model.ArchiveSize],
	local: func(ctx context.Context, l *localArchives, metrics []uuid.UUID, _ nothing) ([]model.ArchiveSize, error) {
		return l.metricd.Sizes(ctx, metrics)
	},
	stale: func(store *archive.Store, metrics []uuid.UUID) (found []model.ArchiveSize, err error) {
		found = make([]model.ArchiveSize, len(metrics))
		for i := 0; i < len(metrics) && err == nil; i++ {
			found[i], err = store.Size(metrics[i])
		}
		return found, err
	},
})

// Sizes implements query.Archives.
func (a *Router) Sizes(ctx context.Context, metrics []uuid.UUID, staleness *query.Staleness) (
	[]model.ArchiveSize, error) {
	return sizes.run(ctx, a, metrics, nothing{}, staleness)
}

var lastMeasures = register(operation[nothing, []carbonara.Timestamp]{
	name: "last-measures", merge: inOrder[carbonara.Timestamp],
	local: func(ctx context.Context, l *localArchives, metrics []uuid.UUID, _ nothing) (
		[]carbonara.Timestamp, error) {
		return l.metricd.LastMeasures(ctx, metrics)
	},
})

func (a *Router) LastMeasures(ctx context.Context, metrics []uuid.UUID) ([]carbonara.Timestamp, error) {
	return lastMeasures.run(ctx, a, metrics, nothing{}, nil)
}

// refresh refreshes the sacks of metrics. If the process of an incoming store has just ended, it waits a little: the
// store is about to be opened or adopted, or another process has drained and removed it.
var refresh = register(operation[nothing, nothing]{
	name: "refresh", merge: theOnly[nothing],
	local: func(ctx context.Context, l *localArchives, metrics []uuid.UUID, _ nothing) (done nothing, err error) {
		deadline := time.Now().Add(holderWait)
		for wait := holderLook; ; wait = min(2*wait, 10*holderLook) {
			if err = l.reach(ctx, deadline); err == nil {
				err = l.explain(l.metricd.Refresh(ctx, metrics))
			}
			if !errors.Is(err, model.ErrUnavailable) || errors.Is(err, metricd.ErrNotOwned) || model.IsDamaged(err) ||
				time.Now().After(deadline) {
				return done, err
			}
			if err := pause.For(ctx, wait); err != nil {
				return done, err
			}
			_ = l.look(ctx) // if it fails, so does what follows
		}
	},
})

func (a *Router) Refresh(ctx context.Context, metrics []uuid.UUID) error {
	_, err := refresh.run(ctx, a, oneOfEachSack(metrics, a.sacks), nothing{}, nil)
	return err
}

var content = register(operation[*model.ContentRequest, model.Content]{
	name: "content", mostAtOnce: 1, merge: theOnly[model.Content],
	local: func(ctx context.Context, l *localArchives, _ []uuid.UUID, r *model.ContentRequest) (model.Content, error) {
		return l.metricd.Content(ctx, r)
	},
})

func (a *Router) Content(ctx context.Context, r *model.ContentRequest) (model.Content, error) {
	return content.run(ctx, a, []uuid.UUID{r.Metric}, r, nil)
}

// replacement is a model.Replacement and its measures: 8 bytes each timestamp, and each value, big endian.
type replacement struct {
	model.Replacement
	Timestamps []byte `json:"timestamps,omitempty"`
	Values     []byte `json:"values,omitempty"`
}

// replace first takes what all incoming stores have, so that nothing that was acknowledged before is left there. The
// metrics of one sack share commits.
var replace = register(operation[*replacement, model.Replaced]{
	name: "replace", mostAtOnce: 100, merge: added[model.Replaced],
	local: func(ctx context.Context, l *localArchives, metrics []uuid.UUID, r *replacement) (
		done model.Replaced, err error) {
		what, n := r.Replacement, len(r.Timestamps)/8
		what.Timestamps, what.Values = make([]carbonara.Timestamp, n), make([]float64, n)
		_, err = binary.Decode(r.Timestamps, binary.BigEndian, what.Timestamps)
		if err == nil {
			_, err = binary.Decode(r.Values, binary.BigEndian, what.Values)
		}
		if err != nil {
			return done, fmt.Errorf("cluster: replacement: %w: %w", model.ErrInvalid, err)
		}
		if _, err := refresh.local(ctx, l, metrics, nothing{}); err != nil {
			return done, err
		}
		return l.metricd.Replace(ctx, metrics, &what)
	},
})

func (a *Router) Replace(ctx context.Context, metrics []uuid.UUID, r *model.Replacement) (model.Replaced, error) {
	sent := &replacement{Replacement: *r}
	sent.Timestamps, _ = binary.Append(nil, binary.BigEndian, r.Timestamps) // they have a fixed size
	sent.Values, _ = binary.Append(nil, binary.BigEndian, r.Values)
	return replace.run(ctx, a, metrics, sent, nil)
}

var changed = register(operation[changes.Request, changes.Answer]{name: "changes", merge: theOnly[changes.Answer],
	local: func(ctx context.Context, l *localArchives, metrics []uuid.UUID, r changes.Request) (changes.Answer, error) {
		return l.metricd.Changes(ctx, model.Sack(metrics[0], l.sacks), r)
	}})

// Changes listens to the changes of a sack.
func (a *Router) Changes(ctx context.Context, sack int, r changes.Request) (changes.Answer, error) {
	return changed.run(ctx, a, []uuid.UUID{{14: byte(sack >> 8), 15: byte(sack)}}, r, nil)
}

// schemas are archive policies as of an epoch and generation of the index.
type schemas struct {
	Epoch      uint64        `json:"epoch"`
	Generation uint64        `json:"generation"`
	Policies   peer.Policies `json:"policies"`
}

// rebuild gives archives the schema of their policies. Metrics of damaged sacks count as failed: others need not wait
// for them.
var rebuild = register(operation[schemas, model.RebuildCounts]{
	name: "rebuild", long: true, merge: added[model.RebuildCounts],
	local: func(ctx context.Context, l *localArchives, metrics []uuid.UUID, s schemas) (model.RebuildCounts, error) {
		l.sees(s.Epoch, s.Generation)
		served := slices.DeleteFunc(slices.Clone(metrics), func(id uuid.UUID) bool {
			return l.damaged.of(datafolder.SackName(model.Sack(id, l.sacks))) != nil
		})
		done, err := l.metricd.Rebuild(ctx, served, s.Policies)
		done.Failed += len(metrics) - len(served)
		return done, err
	},
})

// Rebuild gives archives the schema of their policies. The policies of metrics are as of this epoch and generation of
// the index.
func (a *Router) Rebuild(ctx context.Context, epoch, generation uint64, metrics []*model.Metric) (
	model.RebuildCounts, error) {
	ids, s := make([]uuid.UUID, len(metrics)), schemas{Epoch: epoch, Generation: generation}
	for i, m := range metrics {
		if ids[i] = m.ID; !slices.Contains(s.Policies, m.ArchivePolicy) {
			s.Policies = append(s.Policies, m.ArchivePolicy)
		}
	}
	return rebuild.run(ctx, a, ids, s, nil)
}
