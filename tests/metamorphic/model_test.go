package metamorphic_test

import (
	"context"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

// reference is a metric recomputed from all measures that were ever accepted.
type reference struct {
	policy   *model.ArchivePolicy
	accepted map[carbonara.Timestamp]float64
	newest   carbonara.Timestamp   // of those that are not ahead
	ahead    []carbonara.Timestamp // the others
	keepsAll bool                  // the policy's timespans do not count

	dropped, late uint64
}

// request applies the measures of one request: the rules of package carbonara, word by word.
func (r *reference) request(timestamps []carbonara.Timestamp, values []float64) {
	r.requestAt(time.Now().UnixNano(), timestamps, values)
}

// requestAt is request at a time of the clock.
func (r *reference) requestAt(at int64, timestamps []carbonara.Timestamp, values []float64) {
	if r.accepted == nil {
		r.accepted = make(map[carbonara.Timestamp]float64)
	}
	newest := r.newestAt(at)
	oldest, accepted := r.oldestAfter(newest), false
	for i, t := range timestamps {
		if t < oldest {
			r.dropped++
			continue
		}
		if t < newest {
			r.late++
		}
		r.accepted[t], accepted = values[i], true
		if t > r.newest {
			r.ahead = append(r.ahead, t)
		}
	}
	if accepted {
		r.newest = r.newestAt(at)
		r.ahead = slices.DeleteFunc(r.ahead, func(t carbonara.Timestamp) bool { return t <= r.newest })
	}
}

// newestAt returns the newest measure that is not ahead at a time of the clock.
func (r *reference) newestAt(at int64) carbonara.Timestamp {
	block := int64(r.policy.Plan().Coarsest())
	newest := r.newest
	for _, t := range r.ahead {
		if int64(t)/block <= at/block+1 {
			newest = max(newest, t)
		}
	}
	return newest
}

// oldestAfter returns the oldest timestamp that is accepted after a measure at newest.
func (r *reference) oldestAfter(newest carbonara.Timestamp) carbonara.Timestamp {
	block := carbonara.Timestamp(r.policy.Plan().Coarsest())
	blocks := carbonara.Timestamp(r.policy.BackWindow)
	if r.policy.Plan().HasRate() {
		blocks++
	}
	return newest/block*block - blocks*block
}

func (r *reference) groups(t testing.TB, granularity time.Duration) *carbonara.Groups {
	t.Helper()
	plan := r.policy.Plan()
	batch := &carbonara.Batch{}
	for ts := range r.accepted {
		batch.Timestamps = append(batch.Timestamps, ts)
	}
	slices.Sort(batch.Timestamps)
	for _, ts := range batch.Timestamps {
		batch.Values = append(batch.Values, r.accepted[ts])
	}
	batch.Series = []carbonara.Series{{Plan: plan, To: len(batch.Values)}}
	var result carbonara.Result
	fatal.If(t, carbonara.NewCPUResampler(1).Resample(context.Background(), batch, &result))
	groups := result.Groups(0, slices.Index(plan.Granularities, granularity))
	from := 0
	if timespan := r.policy.Timespan(granularity); timespan > 0 && groups.Len() > 0 && !r.keepsAll {
		newest := r.newest.Floor(granularity)
		for int64(groups.Starts[from]) <= int64(newest)-int64(timespan) {
			from++
		}
	}
	kept := groups.Slice(from, groups.Len())
	return &kept
}

// requireEqual compares bit for bit, except that any NaN equals any other.
func requireEqual(t testing.TB, what string, got, want *carbonara.Groups) {
	t.Helper()
	if !slices.Equal(got.Starts, want.Starts) {
		t.Fatalf("%s at %v: groups start at\n%v, want\n%v", what, want.Granularity, got.Starts, want.Starts)
	}
	for c, column := range want.Columns {
		for i, w := range want.Values[c] {
			if g := got.Values[c][i]; math.Float64bits(g) != math.Float64bits(w) && !(g != g && w != w) {
				t.Fatalf("%s at %v, group %v, %v: got %v, want %v", what, want.Granularity,
					want.Starts[i].Time(), column, g, w)
			}
		}
	}
}
