package csvimport

import (
	"errors"
	"fmt"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/prometheus/prometheus/model/histogram"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/value"
	"github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/tsdb/chunks"
	"github.com/prometheus/prometheus/tsdb/tombstones"

	"github.com/gnocco-db/gnocco/cmd/gnocco-import/internal/requests"
	"github.com/gnocco-db/gnocco/internal/client"
	"github.com/gnocco-db/gnocco/tests/fatal"
	"github.com/gnocco-db/gnocco/tests/promtest"
)

// Blocks of Prometheus' own writers are read whole, with the labels that Thanos adds.
func TestBlocks(t *testing.T) {
	const start = 1767225600000
	dir, blocks := t.TempDir(), 0
	block := func(from int64, more string, set labels.Labels, values ...float64) string {
		t.Helper()
		var list []chunks.Sample
		for i, v := range values {
			list = append(list, promtest.Sample{MS: from + int64(i)*15_000, Value: v})
		}
		if len(values) == 0 {
			list = append(list, promtest.Sample{MS: from, Histogram: &histogram.FloatHistogram{Count: 3, Sum: 4}})
		}
		chunk, err := chunks.ChunkFromSamples(list)
		fatal.If(t, err)
		blocks++
		path := filepath.Join(dir, fmt.Sprint(blocks))
		promtest.WriteBlock(t, path, "{"+more+`"version":1}`, promtest.BlockSeries{Labels: set, Chunks: []chunks.Meta{chunk}})
		return path
	}
	read := func() (string, error) {
		var said []string
		i, err := New(Options{Client: requests.New(new(client.Client)),
			Note:   func(text string) { said = append(said, text) },
			Reject: func(_ string, _ int, reason string) { said = append(said, reason) }})
		fatal.If(t, err)
		defer i.Close()
		if err := i.Blocks(t.Context(), dir); err != nil {
			return "", err
		}
		fatal.If(t, i.rows.each(func(r *row) error {
			said = append(said, fmt.Sprintf("%s %d %v", i.metrics[r.metric], r.time/1e6-start, r.value))
			return nil
		}))
		return strings.Join(said, "\n"), nil
	}
	var refused Refusal
	if _, err := read(); !errors.As(err, &refused) || !strings.Contains(err.Error(), "has no block") {
		t.Errorf("an empty folder: %v", err)
	}
	stale := math.Float64frombits(value.StaleNaN)
	block(start, "", labels.FromStrings("__name__", "up", "job", "a"), 1, 0.1, stale, math.Inf(1))
	dropped := block(start, "", labels.FromStrings("__name__", "dropped"), 6, 7, 8)
	stones := tombstones.NewMemTombstones()
	for ref := range storage.SeriesRef(20) { // the one of the only series is among them
		stones.AddInterval(ref, tombstones.Interval{Mint: start + 15_000, Maxt: start + 29_000})
	}
	if _, err := tombstones.WriteFile(slog.New(slog.DiscardHandler), dropped, stones); err != nil {
		t.Fatal(err)
	}
	block(start+7_200_000, `"thanos":{"labels":{"replica":"r1"}},`, labels.FromStrings("__name__", "up", "job", "a"), 5)
	block(start, "", labels.FromStrings("job", "nameless"), 1)
	block(start, "", labels.FromStrings("__name__", "native"))
	fatal.If(t, os.Mkdir(filepath.Join(dir, "wal"), 0o700))
	block(8e15, "", labels.FromStrings("__name__", "late"), 1)
	block(start, "", labels.FromStrings("__name__", "odd", "a=b", "c"), 1)
	block(start, "", labels.FromStrings("__name__", "bad", "of", "\xff"), 1)
	got, err := read()
	for _, want := range []string{`up{job="a"} 0 1` + "\n", `up{job="a"} 15000 0.1` + "\n", `up{job="a"} 45000 +Inf` + "\n",
		`up{job="a",replica="r1"} 7200000 5`, `series {job="nameless"} has no name`,
		"1 native histogram, of which each part is a measure", `native{__histogram__="sum"} 0 4`, `{"a=b"="c"} 0 1`,
		"series bad{of=\"\\xff\"} are not in UTF-8",
		"wal: samples that only this log has",
		"dropped{} 0 6\n", "dropped{} 30000 8\n", "time 8000000000000000 ms of series late{}"} {
		if err != nil || !strings.Contains(got, want) {
			t.Errorf("got %s, %v\nwant %s", got, err, want)
		}
	}
	if strings.Contains(got, "dropped{} 15000") || strings.Contains(got, `up{job="a"} 30000`) {
		t.Error("a deleted sample is read, or a stale one")
	}
	block(start, `"thanos":{"downsample":{"resolution":300000}},`, labels.FromStrings("__name__", "up"), 1)
	block(start, `"thanos":{"downsample":{"resolution":300000}},`, labels.FromStrings("job", "coarse"), 1, 2)
	got, err = read()
	for _, want := range []string{"has aggregates of 5m0s by Thanos", `2 samples: series {job="coarse"} has no name`} {
		if err != nil || !strings.Contains(got, want) {
			t.Errorf("a downsampled block: %s, %v\nwant %s", got, err, want)
		}
	}
}

// A damaged chunk of aggregates is refused.
func TestAggregatesThatDoNotDecode(t *testing.T) {
	for _, data := range []string{"", "\x80", "\x05\x01", "\x00\x00", "\x00\x00\x00\x00\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"} {
		a := aggregatesOf{block: new(block)}
		if rows, err := a.rows(aggregateChunk{data: []byte(data)}, true); err == nil {
			t.Errorf("%q: %v", data, rows)
		}
	}
}
