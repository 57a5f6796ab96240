package carbonara_test

import (
	"testing"
	"time"

	"github.com/gnocco-db/gnocco/carbonara"
)

// allocator allocates Go's memory, and counts.
type allocator struct {
	*carbonara.CPUResampler
	out   int // borrowed and not given back
	limit int // measures that it lends at most
}

func (l *allocator) Allocate(measures int) carbonara.Columns {
	if measures > l.limit {
		return carbonara.Columns{}
	}
	l.out++
	return carbonara.Columns{Timestamps: make([]carbonara.Timestamp, 0, measures),
		Values: make([]float64, 0, measures), Memory: &loan{l}}
}

type loan struct{ of *allocator }

func (l *loan) Release() {
	if l.of == nil {
		panic("given back twice")
	}
	l.of.out--
	l.of = nil
}

// A batch keeps its measures wherever they lie, and never has more than one loan.
func TestBatchGrowsInLentMemory(t *testing.T) {
	l := &allocator{carbonara.NewCPUResampler(1), 0, 100_000}
	var b carbonara.Batch
	fill := func(measures, each int) {
		t.Helper()
		for from := 0; from < measures; from += each {
			b.Grow(each)
			for i := from; i < from+each; i++ {
				b.Timestamps, b.Values = append(b.Timestamps, carbonara.Timestamp(i)), append(b.Values, float64(i)/2)
			}
		}
		for i := range b.Values {
			if b.Timestamps[i] != carbonara.Timestamp(i) || b.Values[i] != float64(i)/2 {
				t.Fatalf("measure %d of %d is lost", i, measures)
			}
		}
		if len(b.Values) != measures || len(b.Timestamps) != measures {
			t.Fatalf("%d measures, %d timestamps; want %d", len(b.Values), len(b.Timestamps), measures)
		}
	}
	borrowed := func(want int) {
		t.Helper()
		if l.out != want || (b.Borrowed() != nil) != (want == 1) {
			t.Errorf("%d loans, %v; want %d", l.out, b.Borrowed(), want)
		}
	}
	fill(20_000, 100) // nobody to lend
	borrowed(0)
	b.Reset(l)
	fill(1000, 10) // too few
	borrowed(0)
	b.Reset(l)
	fill(50_000, 10)
	borrowed(1)
	before := b.Borrowed()
	b.Reset(l)
	fill(50_000, 1000)
	if b.Borrowed() != before {
		t.Error("used again, but borrowed anew")
	}
	b.Reset(l)
	fill(200_000, 1000) // more than there is to lend
	b.Reset(l)
	fill(30_000, 30_000)
	borrowed(1)
	b.Reset(carbonara.NewCPUResampler(1))
	borrowed(0)
	fill(20_000, 100)
	b.Reset(l)
	fill(20_000, 20_000)
	borrowed(1)
	b.Release()
	b.Release()
	borrowed(0)
	fill(20_000, 100)
	borrowed(0)
}

// A result gives back its borrowed memory when any resampler uses it again, and on Release.
func TestResultGivesBack(t *testing.T) {
	l := &allocator{carbonara.NewCPUResampler(1), 0, 100_000}
	plan := carbonara.NewPlan([]time.Duration{time.Minute}, []carbonara.Method{carbonara.Mean})
	batch := &carbonara.Batch{Timestamps: []carbonara.Timestamp{1}, Values: []float64{2},
		Series: []carbonara.Series{{Plan: plan, To: 1}}}
	var result carbonara.Result
	refer := func() {
		columns := l.Allocate(3)
		w := result.Writers(nil, batch, 2)[1]
		g := w.Refer(0, 0)
		g.Starts, g.Values[0], g.Values[1] = columns.Timestamps[:1], columns.Values[:1], columns.Values[1:2]
		w.Keep(columns.Memory)
		if g := result.Groups(0, 0); g.Granularity != time.Minute || g.Len() != 1 || len(g.Columns) != len(g.Values) {
			t.Errorf("%v", g)
		}
		if l.out != 1 {
			t.Errorf("%d loans", l.out)
		}
	}
	refer()
	refer()
	if err := l.Resample(t.Context(), batch, &result); err != nil ||
		result.Groups(0, 0).Column(carbonara.ColumnSum)[0] != 2 {
		t.Errorf("%v, %v", err, result.Groups(0, 0))
	}
	if l.out != 0 {
		t.Errorf("%d loans", l.out)
	}
	refer()
	result.Release()
	result.Release()
	if l.out != 0 {
		t.Errorf("%d loans", l.out)
	}
}
