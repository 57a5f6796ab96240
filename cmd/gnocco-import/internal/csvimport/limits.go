package csvimport

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/internal/client"
	"github.com/gnocco-db/gnocco/model"
)

// limits count the measures that a metric's archive policy does not keep, or not at its finest granularity.
type limits struct {
	items   []limit // by granularity
	finest  carbonara.Timestamp
	expired int64
}

// limit is one item of a policy's definition.
type limit struct {
	granularity time.Duration
	timespan    time.Duration       // 0: without limit
	from        carbonara.Timestamp // groups before it are not kept
	only        int64               // measures of which this is the finest granularity that keeps them
	merged      int64               // of these, if it is not the finest of the policy: not the first of their group
	group       carbonara.Timestamp // of the last of these
}

// newLimits returns those of a policy for a metric whose newest measure is at newest.
func newLimits(policy *client.ArchivePolicy, newest carbonara.Timestamp) (l limits, err error) {
	for _, item := range policy.Definition {
		var one limit
		if one.granularity, err = model.ParseTimespan(item.Granularity); err != nil {
			return l, fmt.Errorf("archive policy %s: granularity %q: %w", policy.Name, item.Granularity, err)
		}
		if item.Timespan != nil {
			if one.timespan, err = model.ParseTimespan(*item.Timespan); err != nil {
				return l, fmt.Errorf("archive policy %s: timespan %q: %w", policy.Name, *item.Timespan, err)
			}
		}
		l.items = append(l.items, one)
	}
	slices.SortFunc(l.items, func(a, b limit) int { return cmp.Compare(a.granularity, b.granularity) })
	l.raise(newest)
	return l, nil
}

// raise says that the metric has a measure at newest, or a later one.
func (l *limits) raise(newest carbonara.Timestamp) {
	for i := range l.items {
		item := &l.items[i]
		group := newest.Floor(item.granularity)
		if span := carbonara.Timestamp(item.timespan); span > 0 && span <= group {
			item.from = max(item.from, (group - span).Floor(item.granularity).Add(item.granularity))
		}
	}
	if len(l.items) > 0 {
		l.finest = l.items[0].from
	}
}

// see counts a measure, which is not earlier than the one before.
func (l *limits) see(t carbonara.Timestamp) {
	if t >= l.finest {
		return
	}
	for i := range l.items {
		if item := &l.items[i]; t >= item.from {
			group := t.Floor(item.granularity)
			if item.only > 0 && group == item.group {
				item.merged++
			}
			item.only++
			item.group = group
			return
		}
	}
	l.expired++
}

// count adds what was seen to a result.
func (l *limits) count(r *Result) {
	r.Expired += l.expired
	for _, item := range l.items {
		if item.only > 0 {
			r.Coarser[item.granularity] += item.only
			r.Merged += item.merged
		}
	}
}
