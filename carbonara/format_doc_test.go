package carbonara_test

import (
	"encoding/hex"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

// documentedBytes returns the bytes of the n-th block marked "hex" in a page of docs/format, from 0: hexadecimal up to
// two spaces, then what it means.
func documentedBytes(t *testing.T, page string, n int) []byte {
	t.Helper()
	text, err := os.ReadFile("../docs/format/" + page)
	fatal.If(t, err)
	block, found := string(text), true
	for range n + 1 {
		if _, block, found = strings.Cut(block, "```hex\n"); !found {
			break
		}
	}
	block, _, closed := strings.Cut(block, "```")
	if !found || !closed {
		t.Fatalf("%s has no example", page)
	}
	var src []byte
	for line := range strings.Lines(block) {
		digits, _, _ := strings.Cut(strings.TrimSpace(line), "  ")
		b, err := hex.DecodeString(strings.ReplaceAll(digits, " ", ""))
		if err != nil {
			t.Fatalf("%s: %q: %v", page, line, err)
		}
		src = append(src, b...)
	}
	return src
}

func TestSplitOfTheDocument(t *testing.T) {
	key := carbonara.SplitKeyOf(carbonara.FromTime(time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)), time.Minute)
	start := key.Start + 10*carbonara.Timestamp(time.Minute)
	g := &carbonara.Groups{
		Granularity: time.Minute,
		Starts:      []carbonara.Timestamp{start, start.Add(time.Minute), start.Add(4 * time.Minute)},
		Columns: []carbonara.Column{carbonara.ColumnCount, carbonara.ColumnSum, carbonara.ColumnMin,
			carbonara.ColumnMax},
		Values: [][]float64{{1, 1, 1}, {20.5, 20.75, 21}, {20.5, 20.75, 21}, {20.5, 20.75, 21}},
	}
	if got, want := carbonara.AppendSplit(nil, key, g), documentedBytes(t, "split.md", 0); string(got) != string(want) {
		t.Errorf("the split of docs/format/split.md is written as\n% x, not\n% x", got, want)
	}
}

func TestRawSeriesOfTheDocument(t *testing.T) {
	start := carbonara.FromTime(time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC))
	timestamps := []carbonara.Timestamp{start.Add(time.Second), start.Add(11 * time.Second),
		start.Add(22 * time.Second)}
	got := carbonara.AppendRaw(nil, start, timestamps, []float64{0.5, 0.5, 3})
	if want := documentedBytes(t, "raw.md", 0); string(got) != string(want) {
		t.Errorf("the raw series of docs/format/raw.md is written as\n% x, not\n% x", got, want)
	}
}

func TestVectorSplitOfTheDocument(t *testing.T) {
	key := carbonara.SplitKeyOf(carbonara.FromTime(time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)), time.Minute)
	var timestamps []carbonara.Timestamp
	var values []float64
	for i := range 64 {
		at := key.Start + carbonara.Timestamp(i)*carbonara.Timestamp(time.Minute)
		timestamps = append(timestamps, at, at.Add(30*time.Second))
		low := float64(200+5*i) / 10
		values = append(values, low, low+float64(1+i%4))
	}
	batch := &carbonara.Batch{Timestamps: timestamps, Values: values}
	methods := []carbonara.Method{carbonara.Mean, carbonara.Min, carbonara.Std}
	batch.Series = []carbonara.Series{{Plan: carbonara.NewPlan([]time.Duration{time.Minute}, methods), To: len(values)}}
	g := resample(t, 1, batch).Groups(0, 0)
	if got, want := carbonara.AppendSplit(nil, key, g), documentedBytes(t, "split.md", 1); string(got) != string(want) {
		t.Errorf("the split of docs/format/split.md is written as\n% x, not\n% x", got, want)
	}
}
