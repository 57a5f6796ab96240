package csvimport

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/prometheus/model/histogram"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/value"
	"github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/tsdb/chunkenc"
	"github.com/prometheus/prometheus/tsdb/chunks"
	"github.com/prometheus/prometheus/tsdb/index"
	"github.com/prometheus/prometheus/tsdb/tombstones"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/internal/counted"
)

// blockMeta is what Thanos and Mimir write into a block's meta.json beside Prometheus' own members.
type blockMeta struct {
	Thanos struct {
		Labels     map[string]string `json:"labels"` // of all series
		Downsample struct {
			Resolution int64 `json:"resolution"` // in milliseconds; 0: the samples themselves
		} `json:"downsample"`
	} `json:"thanos"`
}

const metaFile = "meta.json"

// Blocks reads the blocks of a folder of Prometheus, Thanos or Mimir, or the one that the folder is.
func (i *Importer) Blocks(ctx context.Context, folder string) error {
	i.ofBlocks = true
	var blocks []string
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
		case entry.IsDir() && strings.Contains(entry.Name(), ".tmp-for-"): // half written, or half deleted
			return fs.SkipDir
		case entry.IsDir() && (entry.Name() == "wal" || entry.Name() == "wbl"):
			i.options.Note(path + ": samples that only this log has are in no block, and left out; a snapshot has them")
			return fs.SkipDir
		case entry.Name() == metaFile:
			blocks = append(blocks, filepath.Dir(path))
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("csvimport: %w", err)
	}
	if len(blocks) == 0 {
		return refusal("%s has no block: a folder with a file %s", folder, metaFile)
	}
	for _, block := range blocks {
		if err := i.block(ctx, block); err != nil {
			return err
		}
		i.result.Files++
	}
	return nil
}

func (i *Importer) block(ctx context.Context, folder string) (err error) {
	b, err := i.open(folder)
	if err != nil {
		return err
	}
	if b.resolution == 0 {
		defer func() { err = errors.Join(err, b.close()) }()
	} else { // is read when it is sent
		i.blocks = append(i.blocks, b)
		i.options.Note(fmt.Sprintf("%s has aggregates of %v by Thanos", folder, b.resolution))
	}
	name, every := index.AllPostingsKey()
	all, err := b.index.Postings(ctx, name, every)
	if err != nil {
		return refusal("%s: %w", folder, err)
	}
	for all.Next() {
		if err := b.series(all.At()); err != nil {
			return err
		}
	}
	b.noteHistograms()
	if err := all.Err(); err != nil {
		return refusal("%s: %w", folder, err)
	}
	return nil
}

// block is one that is being read.
type block struct {
	*Importer
	folder     string
	labels     map[string]string // of all series
	resolution time.Duration     // of aggregates; 0: the block has samples
	index      *index.Reader
	chunks     *chunks.Reader
	deleted    tombstones.Reader
	histograms int // native ones that were read
	leftOut    int // of aggregates

	builder labels.ScratchBuilder
	metas   []chunks.Meta
	samples chunkenc.Iterator
}

// open opens a block. Close of the importer closes one of aggregates.
func (i *Importer) open(folder string) (_ *block, err error) {
	text, err := os.ReadFile(filepath.Join(folder, metaFile))
	if err != nil {
		return nil, fmt.Errorf("csvimport: %w", err)
	}
	var meta blockMeta
	if err := json.Unmarshal(text, &meta); err != nil {
		return nil, refusal("%s %s: %w", folder, metaFile, err)
	}
	b := &block{Importer: i, folder: folder, labels: meta.Thanos.Labels,
		resolution: time.Duration(meta.Thanos.Downsample.Resolution) * time.Millisecond}
	defer func() {
		if err != nil {
			err = errors.Join(refusal("%s: %w", folder, err), b.close())
		}
	}()
	if b.index, err = index.NewFileReader(filepath.Join(folder, "index"), index.DecodePostingsRaw); err != nil {
		return b, err
	}
	if b.chunks, err = chunks.NewDirReader(filepath.Join(folder, "chunks"), chunkPool{chunkenc.NewPool()}); err != nil {
		return b, err
	}
	b.deleted, _, err = tombstones.ReadTombstones(folder)
	return b, err
}

func (b *block) close() (err error) {
	if b.index != nil {
		err = b.index.Close()
	}
	if b.chunks != nil {
		err = errors.Join(err, b.chunks.Close())
	}
	if b.deleted != nil {
		err = errors.Join(err, b.deleted.Close())
	}
	b.index, b.chunks, b.deleted = nil, nil, nil
	return err
}

func (b *block) noteHistograms() {
	if b.histograms > 0 {
		b.options.Note(fmt.Sprintf("%s: %s, of which each part is a measure", b.folder,
			counted.Of(b.histograms, "native histogram")))
	}
	if b.leftOut > 0 {
		b.result.Rejected += int64(b.leftOut)
		b.options.Note(fmt.Sprintf("%s: %s of native histograms left out", b.folder, counted.Of(b.leftOut, "aggregate")))
	}
}

// series reads the samples of a series.
func (b *block) series(ref storage.SeriesRef) error {
	if err := b.index.Series(ref, &b.builder, &b.metas); err != nil {
		return refusal("%s: %w", b.folder, err)
	}
	set := b.builder.Labels().Map()
	maps.Copy(set, b.labels)
	name := withLabels(set)
	deleted, err := b.deleted.Get(ref)
	if err != nil {
		return refusal("%s: %w", b.folder, err)
	}
	if fault := name.check(); fault != nil {
		samples, err := 0, error(nil)
		if b.resolution > 0 {
			samples, err = b.countAggregates()
		} else {
			err = b.each(name, deleted, func(int64, float64, *histogram.FloatHistogram) error { samples++; return nil })
		}
		if samples > 0 {
			b.result.Rejected += int64(samples)
			b.options.Reject(b.folder, 0, fmt.Sprintf("%s: %v", counted.Of(samples, "sample"), fault))
		}
		return err
	}
	if b.resolution > 0 {
		m := b.metrics[b.number(name, nil)]
		if m.aggregates = append(m.aggregates, aggregatesOf{b, ref}); len(b.metas) > 0 {
			m.newest = max(m.newest, min(carbonara.Timestamp(b.metas[len(b.metas)-1].MaxTime)*1e6, b.latest))
		}
		return nil
	}
	natives := b.natives[name]
	number := b.number(name, nil)
	err = b.each(name, deleted, func(ms int64, v float64, h *histogram.FloatHistogram) error {
		if h == nil {
			t, ok := b.timeOf(b.folder, name, ms)
			if !ok {
				return nil
			}
			return b.add(number, t, v)
		}
		if natives == nil {
			natives = newNative(set)
			b.natives[name] = natives
		}
		return b.histogram(name, natives, ms, h)
	})
	if natives != nil {
		natives.until = max(natives.until, natives.newest)
	}
	return err
}

// each calls use with the samples of a series: numbers, and native histograms. Chunks may overlap.
func (b *block) each(name seriesName, deleted tombstones.Intervals,
	use func(ms int64, v float64, h *histogram.FloatHistogram) error) error {
	for _, meta := range b.metas {
		chunk, _, err := b.chunks.ChunkOrIterable(meta)
		if err != nil {
			return refusal("%s: series %s: %w", b.folder, name, err)
		}
		b.samples = chunk.Iterator(b.samples)
		for kind := b.samples.Next(); kind != chunkenc.ValNone; kind = b.samples.Next() {
			var ms int64
			var v float64
			var h *histogram.FloatHistogram
			if kind == chunkenc.ValFloat {
				ms, v = b.samples.At()
			} else {
				ms, h = b.samples.AtFloatHistogram(nil)
				v = h.Sum
			}
			if value.IsStaleNaN(v) || isDeleted(deleted, ms) {
				continue
			}
			if err := use(ms, v, h); err != nil {
				return err
			}
		}
		if err := b.samples.Err(); err != nil {
			return refusal("%s: series %s: %w", b.folder, name, err)
		}
	}
	return nil
}

// countAggregates returns how many groups the aggregates of a series have.
func (b *block) countAggregates() (n int, err error) {
	for _, meta := range b.metas {
		chunk, _, err := b.chunks.ChunkOrIterable(meta)
		if err != nil {
			return n, refusal("%s: %w", b.folder, err)
		}
		rows, err := (&aggregatesOf{block: b}).rows(chunk, false)
		if err != nil {
			return n, refusal("%s: %w", b.folder, err)
		}
		n += len(rows)
	}
	return n, nil
}

// isDeleted reports whether a series' sample at a time was deleted.
func isDeleted(deleted tombstones.Intervals, ms int64) bool {
	return slices.ContainsFunc(deleted, func(d tombstones.Interval) bool { return d.InBounds(ms) })
}

// add adds a measure of a metric.
func (i *Importer) add(number uint32, t carbonara.Timestamp, v float64) error {
	m := i.metrics[number]
	m.newest = max(m.newest, t)
	m.rows++
	return i.rows.add(t, v, number)
}

// timeOf returns the time of a sample, and reports one that no archive takes.
func (i *Importer) timeOf(folder string, name seriesName, ms int64) (t carbonara.Timestamp, ok bool) {
	t = carbonara.Timestamp(ms) * 1e6
	if ok = ms >= 0 && ms <= int64(carbonara.MaxTimestamp)/1e6 && t <= i.latest; !ok {
		i.result.Rejected++
		i.options.Reject(folder, 0, fmt.Sprintf("time %d ms of series %s lies before 1970 or ahead of the clock", ms, name))
	}
	return t, ok
}
