package promtest

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/tsdb/chunks"
	"github.com/prometheus/prometheus/tsdb/index"

	"github.com/gnocco-db/gnocco/tests/fatal"
)

// BlockSeries is a series of a block.
type BlockSeries struct {
	Labels labels.Labels
	Chunks []chunks.Meta
}

// WriteBlock writes a block of series by Prometheus' own writers. The text of its meta.json is the caller's.
func WriteBlock(t testing.TB, folder, meta string, all ...BlockSeries) {
	t.Helper()
	fatal.If(t, os.MkdirAll(folder, 0o700), os.WriteFile(filepath.Join(folder, "meta.json"), []byte(meta), 0o600))
	chunkWriter, err := chunks.NewWriter(filepath.Join(folder, "chunks"))
	fatal.If(t, err)
	indexWriter, err := index.NewWriter(t.Context(), filepath.Join(folder, "index"))
	fatal.If(t, err)
	var symbols []string
	for _, s := range all {
		s.Labels.Range(func(l labels.Label) { symbols = append(symbols, l.Name, l.Value) })
	}
	slices.Sort(symbols)
	for _, symbol := range slices.Compact(symbols) {
		fatal.If(t, indexWriter.AddSymbol(symbol))
	}
	slices.SortFunc(all, func(a, b BlockSeries) int { return labels.Compare(a.Labels, b.Labels) })
	for i, s := range all {
		fatal.If(t, chunkWriter.WriteChunks(s.Chunks...),
			indexWriter.AddSeries(storage.SeriesRef(i), s.Labels, s.Chunks...))
	}
	fatal.If(t, chunkWriter.Close(), indexWriter.Close())
}
