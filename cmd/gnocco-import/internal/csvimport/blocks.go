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

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/value"
	"github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/tsdb/chunkenc"
	"github.com/prometheus/prometheus/tsdb/chunks"
	"github.com/prometheus/prometheus/tsdb/index"
	"github.com/prometheus/prometheus/tsdb/tombstones"

	"github.com/gnocco-db/gnocco/carbonara"
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
	var blocks []string
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
		case entry.IsDir() && strings.Contains(entry.Name(), ".tmp-for-"): // half written, or half deleted
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
	histograms int // samples left out

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
		b.result.Rejected += int64(b.histograms)
		b.options.Note(fmt.Sprintf("%s: %d samples are native histograms, and left out", b.folder, b.histograms))
	}
}

// series reads the samples of a series. Chunks may overlap.
func (b *block) series(ref storage.SeriesRef) error {
	if err := b.index.Series(ref, &b.builder, &b.metas); err != nil {
		return refusal("%s: %w", b.folder, err)
	}
	set := b.builder.Labels().Map()
	maps.Copy(set, b.labels)
	name := withLabels(set)
	if err := name.check(); err != nil {
		samples, fault := 0, error(nil)
		for _, meta := range b.metas {
			chunk, _, err := b.chunks.ChunkOrIterable(meta)
			if fault = errors.Join(fault, err); err == nil {
				samples += chunk.NumSamples()
			}
		}
		b.result.Rejected += int64(max(samples, 1)) // also of a series without any
		b.options.Reject(b.folder, 0, fmt.Sprintf("%d samples: %v", samples, err))
		return fault
	}
	number := b.number(name, nil)
	deleted, err := b.deleted.Get(ref)
	if err != nil {
		return refusal("%s: %w", b.folder, err)
	}
	if m := b.metrics[number]; b.resolution > 0 {
		if m.aggregates = append(m.aggregates, aggregatesOf{b, ref}); len(b.metas) > 0 {
			m.newest = max(m.newest, min(carbonara.Timestamp(b.metas[len(b.metas)-1].MaxTime)*1e6, b.latest))
		}
		return nil
	}
	for _, meta := range b.metas {
		chunk, _, err := b.chunks.ChunkOrIterable(meta)
		if err != nil {
			return refusal("%s: series %s: %w", b.folder, name, err)
		}
		b.samples = chunk.Iterator(b.samples)
		for kind := b.samples.Next(); kind != chunkenc.ValNone; kind = b.samples.Next() {
			if kind != chunkenc.ValFloat {
				b.histograms++
				continue
			}
			ms, v := b.samples.At()
			if value.IsStaleNaN(v) || isDeleted(deleted, ms) {
				continue
			}
			if err := b.sample(b.folder, number, ms, v); err != nil {
				return err
			}
		}
		if err := b.samples.Err(); err != nil {
			return refusal("%s: series %s: %w", b.folder, name, err)
		}
	}
	return nil
}

// isDeleted reports whether a series' sample at a time was deleted.
func isDeleted(deleted tombstones.Intervals, ms int64) bool {
	return slices.ContainsFunc(deleted, func(d tombstones.Interval) bool { return d.InBounds(ms) })
}

// sample adds a sample of a series.
func (i *Importer) sample(folder string, number uint32, ms int64, v float64) error {
	m := i.metrics[number]
	t, ok := i.timeOf(folder, m, ms)
	if !ok {
		return nil
	}
	m.newest = max(m.newest, t)
	m.rows++
	return i.rows.add(t, v, number)
}

// timeOf returns the time of a sample, and reports one that no archive takes.
func (i *Importer) timeOf(folder string, m *metric, ms int64) (t carbonara.Timestamp, ok bool) {
	t = carbonara.Timestamp(ms) * 1e6
	if ok = ms >= 0 && ms <= int64(carbonara.MaxTimestamp)/1e6 && t <= i.latest; !ok {
		i.result.Rejected++
		i.options.Reject(folder, 0, fmt.Sprintf("time %d ms of series %s lies before 1970 or ahead of the clock", ms, m))
	}
	return t, ok
}
