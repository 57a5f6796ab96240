package view

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/internal/budget"
	"github.com/gnocco-db/gnocco/metricd/heads"
	"github.com/gnocco-db/gnocco/model"
)

// PromQL reads the raw measures of the last hours again and again, each time with a few more at the end. A metric that
// is read again keeps them as recent groups keep groups: decoded, and in order of time.

// ofMeasures is the place of raw measures among the granularities of recentKey.
const ofMeasures = -1

// mostMeasures bounds the raw measures of a metric that are kept: a day of one each six seconds. They take
// 1/recentShare of the cache at most.
const mostMeasures = 16 << 10

// fewMeasures is how many measures a head without stored ones has to have until they are kept decoded. Less are decoded
// in less time than their place takes to find.
const fewMeasures = 64

func (c *recentCache) mostMeasures() int { return min(mostMeasures, c.limit/recentShare/16) }

// readRecentMeasures appends what a read of raw measures asks for to dst if h keeps recent ones, or now begins to. Then
// ok is true. The lock of the heads is held, by reads.
func (v *View) readRecentMeasures(ctx context.Context, h *heads.Head, read *model.Read, now time.Time,
	dst *carbonara.Groups) (ok bool, err error) {
	if h == nil || !h.HasMeasures() || h.HasAhead() || h.Metric().Replicas {
		return false, nil
	}
	var r *recentGroups
	if read.From < read.To {
		r = v.recent.of(h, ofMeasures, now)
	} else {
		r = v.recent.find(h, ofMeasures)
	}
	if r == nil {
		return false, nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	policy, present := read.Metric.ArchivePolicy, h.Present()
	kept := max(h.Kept(), model.KeepFrom(h.Plan(), policy.BackWindow, present))
	from := max(read.From, kept)
	if read.From < read.To && from < r.tooOld {
		return false, nil
	}
	if r.plan != h.Plan() || r.backWindow != policy.BackWindow || read.From < read.To && from < r.from {
		if ok, err := v.fillMeasures(r, read, from); !ok || err != nil {
			r.empty()
			return false, err
		}
	}
	if r.addPending(kept, v.recent.mostMeasures()) {
		v.recent.count(r)
		if read.From < read.To && from < r.tooOld {
			return false, nil
		}
	}
	dst.Raw = carbonara.RawSpan{KeptFrom: kept, Newest: present, Any: true}
	if from < read.To {
		i, j := r.groups.Search(from), r.groups.Search(read.To)
		if err := budget.Of(ctx).Acquire(budget.Answers, 16*int64(j-i)); err != nil {
			return false, err
		}
		dst.Starts = append(dst.Starts, r.groups.Starts[i:j]...)
		for c := range dst.Values {
			dst.Values[c] = append(dst.Values[c], r.groups.Values[0][i:j]...)
		}
	}
	return true, nil
}

var oneColumn = []carbonara.Column{carbonara.ColumnLast}

// fillMeasures reads the stored measures from a time on. Where bytes do not decode, ok is false.
func (v *View) fillMeasures(r *recentGroups, read *model.Read, from carbonara.Timestamp) (ok bool, err error) {
	r.empty()
	if read.From >= read.To {
		return false, nil
	}
	b := v.options.Memory.get()
	defer v.options.Memory.put(b)
	walk := v.options.Store.SingleWalk()
	defer func() { err = errors.Join(err, walk.Close()) }()
	end, err := b.raw.ReadAfterEnd(&walk, read.Metric.ID, func(carbonara.RawEnd) (carbonara.Timestamp, bool) {
		return from, true
	})
	if err != nil || end.Corrupt > 0 {
		return false, err
	}
	r.groups.Reset(0, oneColumn)
	r.groups.Starts, r.groups.Values[0] = slices.Clone(b.raw.Timestamps), slices.Clone(b.raw.Values)
	r.plan, r.backWindow = r.head.Plan(), read.Metric.ArchivePolicy.BackWindow
	r.from = from
	v.recent.count(r)
	return true, nil
}

// addPending adds the pending measures that are new, and forgets those before kept, or those beyond most, once these
// are a quarter. It reports whether it did either.
func (r *recentGroups) addPending(kept carbonara.Timestamp, most int) bool {
	if r.taken == r.head.Pending() && r.groups.Len() <= 2*most {
		return false
	}
	pending := r.head.AppendPending(nil, r.taken)
	r.groups.Starts = slices.Grow(r.groups.Starts, len(pending)) // not to twice as many, as they come
	r.groups.Values[0] = slices.Grow(r.groups.Values[0], len(pending))
	for _, m := range pending {
		if m.Timestamp >= r.from {
			r.addMeasure(m)
		}
	}
	r.taken = r.head.Pending()
	n := r.groups.Len()
	old, tooMany := r.groups.Search(kept), n-most
	if max(old, tooMany) <= 64+n/4 {
		return true
	}
	if tooMany > old {
		old, r.tooOld = tooMany, r.groups.Starts[tooMany]
	}
	r.from = max(r.from, kept, r.tooOld)
	r.groups.Delete(0, old)
	return true
}

// addMeasure adds a measure, which counts instead of one of the same time.
func (r *recentGroups) addMeasure(m carbonara.Measure) {
	g := &r.groups
	n := g.Len()
	if n == 0 || g.Starts[n-1] < m.Timestamp {
		g.Starts, g.Values[0] = append(g.Starts, m.Timestamp), append(g.Values[0], m.Value)
		return
	}
	i := g.Search(m.Timestamp)
	if g.Starts[i] != m.Timestamp {
		g.Starts = slices.Insert(g.Starts, i, m.Timestamp)
		g.Values[0] = slices.Insert(g.Values[0], i, 0)
	}
	g.Values[0][i] = m.Value
}

// checkpointedMeasures is checkpointed of raw measures.
func (r *recentGroups) checkpointedMeasures(most int) {
	if r.plan != nil {
		r.addPending(0, most)
		r.taken = 0
	}
}
