package query

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

// lastMeasures are archives that know the newest measures only.
type lastMeasures struct {
	Archives
	newest []carbonara.Timestamp
	err    error
}

func (l lastMeasures) LastMeasures(context.Context, []uuid.UUID) ([]carbonara.Timestamp, error) {
	return l.newest, l.err
}

// The times at which a read is divided are even, from the first aggregate that any metric may have to the last.
func TestEvenStarts(t *testing.T) {
	minute, five, hour := time.Minute, 5*time.Minute, time.Hour
	policy, err := model.NewArchivePolicy("p", 0,
		[]model.DefinitionInput{{Granularity: &minute, Timespan: &hour}, {Granularity: &five}}, []string{"mean"})
	fatal.If(t, err)
	at := func(hours float64) carbonara.Timestamp { return carbonara.Timestamp(hours * float64(time.Hour)) }
	f := func(from, to carbonara.Timestamp, granularities []time.Duration, newest []carbonara.Timestamp,
		first, end carbonara.Timestamp) {
		t.Helper()
		want := &tablesRead{Read: &Read{From: from, To: to}, granularities: granularities}
		for range newest {
			want.operands = append(want.operands, Operand{Metric: &model.Metric{ArchivePolicy: policy}})
		}
		r := &Reader{Archives: lastMeasures{newest: newest}}
		starts, err := r.evenStarts(t.Context(), want)
		if err != nil || len(starts) != 64 {
			t.Fatalf("%d starts, %v", len(starts), err)
		}
		for i, start := range starts {
			even := first + (end-first)/64*carbonara.Timestamp(i)
			if start < even-1 || start > even+64 { // the newest measure is part of the read
				t.Errorf("part %d of %v to %v starts at %v, want %v", i, first, end, start, even)
			}
		}
	}
	minutes, both := []time.Duration{minute}, []time.Duration{five, minute}
	f(0, carbonara.MaxTimestamp, minutes, []carbonara.Timestamp{at(10)}, at(9), at(10))
	f(at(9.5), carbonara.MaxTimestamp, minutes, []carbonara.Timestamp{at(10)}, at(9.5), at(10))
	f(0, at(9.75), minutes, []carbonara.Timestamp{at(10)}, at(9), at(9.75))
	f(at(2), carbonara.MaxTimestamp, both, []carbonara.Timestamp{at(10)}, at(2), at(10)) // one is kept for ever
	f(0, carbonara.MaxTimestamp, minutes, []carbonara.Timestamp{at(10), at(20), at(15)}, at(9), at(20))
	f(at(30), at(40), minutes, []carbonara.Timestamp{at(10)}, at(30), at(30)) // nothing is left

	unreachable := errors.New("unreachable")
	r := &Reader{Archives: lastMeasures{err: unreachable}}
	if _, err := r.evenStarts(t.Context(), &tablesRead{Read: new(Read)}); err != unreachable {
		t.Errorf("error %v, want %v", err, unreachable)
	}
}
