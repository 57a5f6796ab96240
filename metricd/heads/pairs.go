package heads

import (
	"slices"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/internal/replica"
	"github.com/gnocco-db/gnocco/model"
)

// The measures of several replicas are judged whenever groups are computed of them, by package replica: together with
// the raw series around them. So a head of replicas continues no open groups. A measure that comes may take an earlier
// one's place; the group that loses its last measure so is written as gone.

// affected returns the time from which on pending measures change groups.
func (h *Head) affected() carbonara.Timestamp {
	if !h.replicas {
		return h.earliest
	}
	before := carbonara.Timestamp(0)
	if h.partial != nil {
		before = h.partial.Before
	}
	from := max(h.earliest-min(h.earliest, replica.Reach), model.CompleteFrom(h.Plan(), h.Kept(), before))
	return min(h.earliest, from)
}

// judged is memory for the verdicts on the measures of a head.
type judged struct {
	Raw           // stored measures, with pending ones merged in
	before, now   replica.Verdicts
	touched, lost []carbonara.Timestamp // of all entries
	gone          carbonara.Groups
}

// judge makes the batch's series the measures from a time on that count, of the raw series in b.raw and the pending
// measures. It notes which groups that changes, and leaves out the pending measures that are settled as lost.
func (b *Batch) judge(e *entry, from carbonara.Timestamp, series *carbonara.Series) {
	j, pending := &b.judged, b.pending(*e)
	j.Timestamps, j.Values = j.Timestamps[:0], j.Values[:0]
	b.raw.Merge(pending, func(t carbonara.Timestamp, v float64) {
		j.Timestamps, j.Values = append(j.Timestamps, t), append(j.Values, v)
	})
	j.before.Judge(b.raw.Timestamps)
	several := j.now.Judge(j.Timestamps)
	e.touched, e.lost = len(j.touched), len(j.lost)
	affected, follows := e.head.affected(), false // follows: the difference to the next one that counts is another
	s, p := 0, 0
	for i, t := range j.Timestamps {
		counts, counted, isNew := j.now.Counts[i], false, p < len(pending) && pending[p].Timestamp == t
		if isNew {
			p++
		}
		if s < len(b.raw.Timestamps) && b.raw.Timestamps[s] == t {
			counted = j.before.Counts[s]
			s++
		}
		if t >= affected && (counts != counted || counts && isNew) {
			j.touched = append(j.touched, t)
			follows = series.Plan.HasRate()
			if !counts {
				j.lost = append(j.lost, t)
			}
		} else if counts && follows {
			j.touched, follows = append(j.touched, t), false
		}
		switch {
		case !counts:
		case t < from:
			series.HasPrevious = true
			series.Previous = carbonara.Measure{Timestamp: replica.Plain(t), Value: j.Values[i]}
		default:
			b.batch.Timestamps = append(b.batch.Timestamps, replica.Plain(t))
			b.batch.Values = append(b.batch.Values, j.Values[i])
		}
	}
	e.touchedTo, e.lostTo = len(j.touched), len(j.lost)
	if several {
		lost := j.now.Settled(j.Timestamps)
		kept := slices.DeleteFunc(pending, func(m carbonara.Measure) bool {
			i, _ := slices.BinarySearch(j.Timestamps, m.Timestamp)
			return lost[i]
		})
		e.to = e.from + len(kept)
		b.measures = b.measures[:e.to]
	}
}

// goneGroups returns those that have no measures any more, of the granularity of groups that were computed.
func (b *Batch) goneGroups(e entry, groups *carbonara.Groups) *carbonara.Groups {
	gone := &b.judged.gone
	gone.Reset(groups.Granularity, groups.Columns)
	for _, t := range b.judged.lost[e.lost:e.lostTo] {
		start := t.Floor(groups.Granularity)
		if i := groups.Search(start); (i == groups.Len() || groups.Starts[i] != start) &&
			(gone.Len() == 0 || gone.Starts[gone.Len()-1] != start) {
			gone.AppendGone(start)
		}
	}
	return gone
}

// Gone returns the groups of the only head in the batch that have no measures any more, after Groups.
func (b *Batch) Gone() *carbonara.Groups { return b.goneGroups(b.entries[0], b.result.Groups(0, 0)) }
