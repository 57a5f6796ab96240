package intake

import "github.com/gnocco-db/gnocco/carbonara"

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
