package intake

import (
	"math"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/model"
)

// Judge judges the measures of one metric. It remembers what the verdicts on further ones depend on. A head embeds it:
// the first fields, side by side with those of the head, are all that a measure in order needs.
type Judge struct {
	plan       *carbonara.Plan // of the metric's archive
	unsettled  *unsettled      // nil if all measures are settled, and in the archive
	ahead      *ahead          // nil if no measure is ahead
	newest     carbonara.Measure
	floor      carbonara.Timestamp // no earlier measure is accepted, with any back window; see Complete
	backWindow int                 // of the metric's archive policy, in blocks
	hasNewest  bool                // newest is set: the newest measure by timestamp, of all that counted

	kept carbonara.Timestamp // the raw series is complete from there on: the past that can be computed again
}

// NewJudge returns the judge of a metric without measures.
func NewJudge(plan *carbonara.Plan, backWindow int) Judge {
	return Judge{plan: plan, backWindow: backWindow}
}

// Load makes the judge continue an archive: the end of its raw series, the timestamps from end.Present on, and the
// newest measure, if there is any.
func (j *Judge) Load(end carbonara.RawEnd, sincePresent []carbonara.Timestamp, newest carbonara.Measure) {
	j.kept, j.newest, j.hasNewest = end.KeptFrom, newest, end.Any
	if end.Any {
		j.ahead = aheadOf(j.plan, end, sincePresent)
	}
}

// Plan returns the plan of the metric's archive.
func (j *Judge) Plan() *carbonara.Plan { return j.plan }

// Follow gives the metric another plan or back window. Complete has to be called after it.
func (j *Judge) Follow(plan *carbonara.Plan, backWindow int) { j.plan, j.backWindow = plan, backWindow }

// BackWindow returns how many blocks before the newest accept late measures.
func (j *Judge) BackWindow() int { return j.backWindow }

// Newest returns the newest measure by timestamp, of all that counted; zero for none.
func (j *Judge) Newest() carbonara.Measure { return j.newest }

// HasMeasures reports whether any measure counted.
func (j *Judge) HasMeasures() bool { return j.hasNewest }

// Kept returns the time from which on the raw series is complete.
func (j *Judge) Kept() carbonara.Timestamp { return j.kept }

// KeepFrom returns the time from which on the raw series is needed. Unsettled measures make nothing too old yet.
func (j *Judge) KeepFrom() carbonara.Timestamp {
	return model.KeepFrom(j.plan, j.backWindow, j.settled())
}

// Trim notes that a checkpoint wrote the raw series from KeepFrom on. Complete has to be called after it.
func (j *Judge) Trim() {
	if j.hasNewest {
		j.kept = max(j.kept, j.KeepFrom())
	}
}

// Incomplete reports whether the raw series lacks measures that the back window needs: the back window was widened, or
// the archive is a migrated one.
func (j *Judge) Incomplete() bool { return j.KeepFrom() < j.kept }

// Complete finds out which groups can be computed again. partialBefore is the time before which partial groups hold all
// measures, 0 for none. In an incomplete raw series a late measure would make other groups of the remaining measures.
func (j *Judge) Complete(partialBefore carbonara.Timestamp) {
	j.floor = 0
	if j.Incomplete() {
		j.floor = model.CompleteFrom(j.plan, j.kept, partialBefore)
	}
}

// SetLimits sets l to the bounds for the measures of a request that was accepted at a time of its clock. from is nil if
// no other store brings measures: then all earlier ones are settled. A request to many metrics uses one l for all.
func (j *Judge) SetLimits(l *Limits, at int64, from *Origin) {
	l.at, l.from, l.later = at, from, nil
	if from != nil {
		j.setLimitsFrom(l)
		return
	}
	if j.unsettled != nil {
		j.settle(math.MaxInt64)
	}
	l.present = j.presentAt(at)
	l.oldest = j.oldestBy(l.present)
	l.inOrder = max(l.oldest, l.present)
}

// oldestBy returns the earliest timestamp that is still accepted where the present is given, 0 for none.
func (j *Judge) oldestBy(present carbonara.Timestamp) carbonara.Timestamp {
	return max(model.OldestAccepted(j.plan, j.backWindow, present), j.floor)
}

// Add notes a measure that counts.
func (j *Judge) Add(m carbonara.Measure) {
	if !j.hasNewest || m.Timestamp >= j.newest.Timestamp {
		j.newest, j.hasNewest = m, true
	}
}

// Counted notes that the measures of a request were judged by limits, and that some of them counted: those were added.
func (j *Judge) Counted(l *Limits, timestamps []carbonara.Timestamp) {
	if j.mayBeAhead(l.at) {
		j.noteAhead(l, timestamps)
	}
	if l.from != nil {
		j.noteRun(l, timestamps)
	}
	if j.ahead != nil {
		j.forgetAhead()
	}
}

// Verdict says what becomes of a measure.
type Verdict uint8

const (
	// Counts: the measure is added. Without it and TooOld, a measure that was sent later has replaced it already.
	Counts Verdict = 1 << iota
	// Late: the measure is older than the newest one before it, and within the back window.
	Late
	// TooOld: the measure is dropped.
	TooOld
)

// Limits are the bounds by which the measures of one request to a metric are judged.
type Limits struct {
	at              int64
	from            *Origin             // nil where no other store brings measures
	present         carbonara.Timestamp // before the request
	settled         carbonara.Timestamp // before the request; if from is set
	oldest, inOrder carbonara.Timestamp // earlier ones are too old; late or too old
	later           *unsettled          // has measures that replace equal ones of the request; nil if it has none
}

// InOrder reports whether the verdict on a measure surely is Counts, as for almost all measures.
func (l *Limits) InOrder(t carbonara.Timestamp) bool { return t >= l.inOrder && l.later == nil }

// Verdict judges a measure by its timestamp.
func (l *Limits) Verdict(t carbonara.Timestamp) Verdict {
	verdict := Counts
	if t < l.inOrder {
		if t < l.oldest {
			return TooOld
		}
		verdict |= Late
	}
	if l.later != nil && l.later.replaces(t, l.from, l.at) {
		return verdict &^ Counts
	}
	return verdict
}
