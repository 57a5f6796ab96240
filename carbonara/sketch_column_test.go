package carbonara_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/carbonara/sketch"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

var sketchPlan = carbonara.NewPlan([]time.Duration{time.Minute, time.Hour, 6 * time.Hour},
	[]carbonara.Method{carbonara.SketchMethod, carbonara.Mean.Rate()})

// sketchGroups returns the groups of n latencies, some of which are missing.
func sketchGroups(t *testing.T, r *rand.Rand, n int) *carbonara.Result {
	t.Helper()
	batch := &carbonara.Batch{}
	at := carbonara.Timestamp(1_700_000_000e9)
	for range n {
		if at += 7e9; r.IntN(60) == 0 {
			at += 100e9
		}
		batch.Timestamps = append(batch.Timestamps, at)
		batch.Values = append(batch.Values, 10*r.NormFloat64())
	}
	batch.Series = []carbonara.Series{{Plan: sketchPlan, To: n}}
	return resample(t, 1, batch)
}

func requireSketches(t *testing.T, what string, got, want *carbonara.Groups) {
	t.Helper()
	if got.Len() != want.Len() {
		t.Fatalf("%s: %d groups, want %d", what, got.Len(), want.Len())
	}
	for row, start := range want.Starts {
		if got.Starts[row] != start || got.Sketch(row) != want.Sketch(row) {
			t.Fatalf("%s, row %d: %x at %d, want %x at %d", what, row, got.Sketch(row), got.Starts[row], want.Sketch(row), start)
		}
	}
	if err := got.CheckSketches(); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
}

// Sketches stay with their groups in splits and operands of both formats, in parts of these, and under later groups; of
// narrower groups and of several metrics they add up to those of all measures.
func TestSketchesFollowTheirGroups(t *testing.T) {
	r := rand.New(rand.NewPCG(35, 3))
	result := sketchGroups(t, r, 40_000)
	minutes, hours := result.Groups(0, 0), result.Groups(0, 1)
	split := func(g *carbonara.Groups, rows ...int) []byte {
		part := g.Slice(rows[0], rows[1])
		return carbonara.AppendSplit(nil, carbonara.SplitKeyOf(part.Starts[0], g.Granularity), &part)
	}
	decode := func(src []byte, key carbonara.SplitKey, from, to carbonara.Timestamp) *carbonara.Groups {
		var dst carbonara.Groups
		dst.Reset(key.Granularity, sketchPlan.Columns)
		fatal.If(t, carbonara.DecodeSplit(src, key, sketchPlan.Columns, from, to, &dst))
		return &dst
	}
	first := minutes.Search(carbonara.SplitKeyOf(minutes.Starts[0], time.Minute).End()) // all in the next split
	key := carbonara.SplitKeyOf(minutes.Starts[first], time.Minute)
	for _, n := range []int{1, 5, 63, 64, 700, 1024, 1025, 2500} {
		if first+n > minutes.Len() {
			t.Fatalf("%d groups", minutes.Len())
		}
		src := split(minutes, first, first+n)
		want := minutes.Slice(first, first+n)
		requireSketches(t, "split", decode(src, key, 0, carbonara.MaxTimestamp), &want)
		from, to := n/3, n-n/4
		want = minutes.Slice(first+from, first+to)
		if n > 4 {
			requireSketches(t, "part of a split", decode(src, key, minutes.Starts[first+from],
				minutes.Starts[first+to-1]+1), &want)
		}
	}
	// Operands over each other, the later ones with other sketches, or none, in the same groups.
	other := sketchGroups(t, r, 40_000).Groups(0, 0)
	var later, expected, scratch carbonara.Groups
	later.Reset(time.Minute, sketchPlan.Columns)
	for i := 200; i < 240; i += 3 {
		later.AppendRows(other, other.Search(minutes.Starts[first+i]), other.Search(minutes.Starts[first+i])+1)
	}
	later.SetSketch(3, "")
	expected.Reset(time.Minute, sketchPlan.Columns)
	expected.AppendRows(minutes, first, first+400)
	expected.Overlay(0, &later, &scratch)
	var unknown int
	for row := range expected.Starts {
		if expected.Sketch(row) == "" {
			unknown++
		}
	}
	if unknown != 1 {
		t.Fatalf("%d unknown sketches", unknown)
	}
	merged, err := carbonara.MergeSplits(nil, key, [][]byte{split(minutes, first, first+300),
		split(minutes, first+300, first+400), carbonara.AppendSplit(nil, key, &later)})
	fatal.If(t, err)
	requireSketches(t, "operands", decode(merged, key, 0, carbonara.MaxTimestamp), &expected)
	for range 1000 {
		expected.Overlay(0, &later, &scratch)
	}
	if n := expected.SketchBytes(); n > 100<<10 {
		t.Errorf("%d bytes after many overlays", n)
	}
	requireSketches(t, "operands over and over", decode(merged, key, 0, carbonara.MaxTimestamp), &expected)
	expected.Delete(10, 300)
	want := expected.Slice(0, expected.Len())
	requireSketches(t, "deleted", &expected, &want)

	var wide carbonara.Groups
	fatal.If(t, carbonara.Coarsen(&wide, minutes, time.Hour))
	requireSketches(t, "of minutes", &wide, hours)
	var both carbonara.Groups
	fatal.If(t, carbonara.Merge(&both, []*carbonara.Groups{hours, &wide}))
	for row := range both.Starts {
		var d sketch.Distribution
		for range 2 {
			fatal.If(t, d.Add(hours.Sketch(row)))
		}
		if d.Sketch() != both.Sketch(row) {
			t.Fatal("twice the same metric: not twice its sketch")
		}
	}
	wide.SetSketch(1, "")
	err = carbonara.Merge(&both, []*carbonara.Groups{hours, &wide})
	if err != nil || both.Sketch(1) != "" || both.Sketch(0) == "" {
		t.Fatalf("merged with an unknown sketch: %x, %v", both.Sketch(1), err)
	}
	starts, values := hours.Aggregate(carbonara.PercentileMethod(95), nil, nil)
	if len(starts) != hours.Len() || math.Abs(values[3]-16.4) > 3 { // of a normal distribution of 10
		t.Errorf("95pct: %v", values)
	}
}

// A sketch that does not decode is an error, and so is one of fewer or more measures than the group has.
func TestCorruptSketches(t *testing.T) {
	result := sketchGroups(t, rand.New(rand.NewPCG(1, 1)), 100)
	hours := result.Groups(0, 1)
	for _, s := range []sketch.Sketch{"\x00", "\x89", hours.Sketch(0)[:len(hours.Sketch(0))-1], hours.Sketch(0) + "\x00",
		sketch.Sketch(new(sketch.Encoder).Append(nil, []float64{1}))} {
		var g carbonara.Groups
		g.Reset(time.Hour, sketchPlan.Columns)
		g.Append(hours)
		g.SetSketch(0, s)
		if err := g.CheckSketches(); !errors.Is(err, carbonara.ErrCorrupt) {
			t.Errorf("%x: %v", s, err)
		}
	}
}
