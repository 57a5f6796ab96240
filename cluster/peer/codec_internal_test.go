package peer

import (
	"bytes"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/carbonara/sketch"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/storage/incoming"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

// Answers that are cut off or broken are errors, and cost no more memory than they have bytes.
func FuzzFrames(f *testing.F) {
	one, two := uuid.UUID{1}, uuid.UUID{2}
	listed := incoming.AppendBlock(nil, &model.Measures{Metrics: make([]uuid.UUID, 4), Offsets: []int{0, 0, 0, 0, 0}},
		[]int{0, 1, 2, 3}, time.Unix(0, 7))
	answer := pollAnswer{
		records: []sackRecord{
			{3, incoming.Record{Sequence: 7, Block: []byte("block"), Stamp: incoming.Stamp{Clock: one, At: 5}}},
			{3, incoming.Record{Sequence: 8, Block: listed, List: incoming.ListOf(listed),
				Stamp: incoming.Stamp{Clock: one, At: 6}}},
			{3, incoming.Record{Sequence: 9, Block: listed, List: incoming.ListOf(listed),
				Stamp: incoming.Stamp{Clock: one, At: 7}}},
			{4, incoming.Record{Sequence: 8, Block: []byte{}, Stamp: incoming.Stamp{Clock: two, At: -6}}}},
		sacks: []sackEnd{{sack: 3, last: 7, frontier: incoming.Stamp{Clock: two, At: 9}, hasFrontier: true},
			{sack: 4, last: 9}},
		clock: two, received: 8, answered: 10,
	}
	var good bytes.Buffer
	_ = answer.write(&good)
	if again, err := readAnswer(bytes.NewReader(good.Bytes())); err != nil || !reflect.DeepEqual(*again, answer) {
		f.Fatalf("%+v became %+v, %v", answer, again, err)
	}
	f.Add(good.Bytes())
	answer.lists = true
	var lists bytes.Buffer
	_ = answer.write(&lists)
	again, err := readAnswer(bytes.NewReader(lists.Bytes()))
	if err != nil || again.records[2].IDs == nil || lists.Len() >= good.Len() {
		f.Fatalf("%+v, %d bytes, became %+v, %d bytes, %v", answer, good.Len(), again, lists.Len(), err)
	}
	f.Add(lists.Bytes())
	f.Add([]byte{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0x3f})
	f.Fuzz(func(t *testing.T, src []byte) {
		answer, err := readAnswer(bytes.NewReader(src))
		if err != nil {
			return
		}
		for i := range answer.records {
			r, scratch := &answer.records[i].Record, []byte(nil)
			r.Block, r.IDs = r.Whole(&scratch), nil
			r.List = incoming.ListOf(r.Block) // what lacks its ids need not fit them
		}
		var encoded bytes.Buffer
		_ = answer.write(&encoded)
		again, err := readAnswer(&encoded)
		if err != nil || !reflect.DeepEqual(again, answer) {
			t.Errorf("% x: %+v became %+v, %v", src, answer, again, err)
		}
	})
}

// hugeGroups are groups whose sum is infinite, and whose mean is not.
func hugeGroups(columns []carbonara.Column) *carbonara.Groups {
	g := &carbonara.Groups{Granularity: time.Minute, Starts: []carbonara.Timestamp{1, 2}, Columns: columns,
		Values: [][]float64{{1, 6}, {3, math.Inf(1)}}}
	g.SetHugeMean(2, carbonara.ColumnSum, 1.7e308)
	return g
}

// Means of infinite sums reach a peer.
func TestHugeMeans(t *testing.T) {
	var g carbonara.Groups
	g.Reset(time.Minute, []carbonara.Column{carbonara.ColumnCount, carbonara.ColumnSum})
	fatal.If(t, readGroups(t.Context(), bytes.NewReader(appendGroups(nil, hugeGroups(g.Columns))), &g))
	if _, means := g.Aggregate(carbonara.Mean, nil, nil); !slices.Equal(means, []float64{3, 1.7e308}) {
		t.Errorf("means %v", means)
	}
}

// Sketches reach a peer, with the groups of the next read behind them.
func TestSketchesReachPeers(t *testing.T) {
	columns := []carbonara.Column{carbonara.ColumnCount, carbonara.ColumnSketch}
	sketches := []sketch.Sketch{"first", "and the second one", ""}
	var body []byte
	for range 2 {
		g := &carbonara.Groups{Granularity: time.Minute, Starts: []carbonara.Timestamp{1, 2, 3}, Columns: columns,
			Values: [][]float64{{3, 2, 1}, {0, 0, 0}}}
		for row, sketch := range sketches {
			g.SetSketch(row, sketch)
		}
		body = appendGroups(appendGroups(body, g), &carbonara.Groups{Granularity: time.Minute})
	}
	r := bytes.NewReader(body)
	for range 2 {
		var g, none carbonara.Groups
		g.Reset(time.Minute, columns)
		none.Reset(time.Minute, columns)
		fatal.If(t, readGroups(t.Context(), r, &g))
		if err := readGroups(t.Context(), r, &none); err != nil || none.Len() > 0 {
			t.Fatal(err)
		}
		if got := []sketch.Sketch{g.Sketch(0), g.Sketch(1), g.Sketch(2)}; !slices.Equal(got, sketches) {
			t.Errorf("%q", got)
		}
	}
	var g carbonara.Groups
	g.Reset(time.Minute, columns)
	if err := readGroups(t.Context(), bytes.NewReader(body[:len(body)/2-6]), &g); err == nil {
		t.Error("half an answer is one")
	}
}

func FuzzGroups(f *testing.F) {
	columns := []carbonara.Column{carbonara.ColumnCount, carbonara.ColumnSum}
	f.Add(appendGroups(nil, hugeGroups(columns)))
	f.Add(appendGroups(nil, &carbonara.Groups{Granularity: time.Minute, Starts: []carbonara.Timestamp{1, 2},
		Columns: columns,
		Values:  [][]float64{{1, 2}, {3, 4}}}))
	f.Add([]byte{0xff, 0xff, 0xff, 0x0f, 1})
	f.Fuzz(func(t *testing.T, src []byte) {
		var g carbonara.Groups
		g.Reset(time.Minute, columns)
		if readGroups(t.Context(), bytes.NewReader(src), &g) != nil {
			return
		}
		if again := appendGroups(nil, &g); !bytes.HasPrefix(src, again) {
			t.Errorf("% x became % x", src, again)
		}
	})
}

// A length that is broken is refused before so many bytes are read.
func TestBrokenLengths(t *testing.T) {
	block := append(make([]byte, 10), 0x01, 0, 0, 0x40)
	if _, err := readAnswer(bytes.NewReader(block)); err == nil || !strings.Contains(err.Error(), "block of 1073741825") {
		t.Errorf("a block of too many bytes: %v", err)
	}
	groups := []byte{0x01, 0, 0, 0x10}
	err := readGroups(t.Context(), bytes.NewReader(groups), &carbonara.Groups{Granularity: time.Minute})
	if err == nil || !strings.Contains(err.Error(), "268435457 groups") {
		t.Errorf("too many groups: %v", err)
	}
}
