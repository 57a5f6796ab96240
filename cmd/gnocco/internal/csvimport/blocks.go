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
	text, err := os.ReadFile(filepath.Join(folder, metaFile))
	if err != nil {
		return fmt.Errorf("csvimport: %w", err)
	}
	var meta blockMeta
	if err := json.Unmarshal(text, &meta); err != nil {
		return refusal("%s %s: %w", folder, metaFile, err)
	}
	if r := meta.Thanos.Downsample.Resolution; r > 0 {
		return refusal("%s has aggregates of %d s by Thanos, which are not read: leave it out, and import the block of samples",
			folder, r/1000)
	}
	names, err := index.NewFileReader(filepath.Join(folder, "index"), index.DecodePostingsRaw)
	if err != nil {
		return refusal("%s: %w", folder, err)
	}
	defer func() { err = errors.Join(err, names.Close()) }()
	samples, err := chunks.NewDirReader(filepath.Join(folder, "chunks"), nil)
	if err != nil {
		return refusal("%s: %w", folder, err)
	}
	defer func() { err = errors.Join(err, samples.Close()) }()
	deleted, _, err := tombstones.ReadTombstones(folder)
	if err != nil {
		return refusal("%s: %w", folder, err)
	}
	defer func() { err = errors.Join(err, deleted.Close()) }()
	b := &block{Importer: i, folder: folder, labels: meta.Thanos.Labels, index: names, chunks: samples}
	name, every := index.AllPostingsKey()
	all, err := names.Postings(ctx, name, every)
	if err != nil {
		return refusal("%s: %w", folder, err)
	}
	for all.Next() {
		if b.deleted, err = deleted.Get(all.At()); err != nil {
			return refusal("%s: %w", folder, err)
		}
		if err := b.series(all.At()); err != nil {
			return err
		}
	}
	if b.histograms > 0 {
		i.result.Rejected += int64(b.histograms)
		i.options.Note(fmt.Sprintf("%s: %d samples are native histograms, and left out", folder, b.histograms))
	}
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
	index      *index.Reader
	chunks     *chunks.Reader
	deleted    tombstones.Intervals // of a series
	histograms int                  // samples left out

	builder labels.ScratchBuilder
	metas   []chunks.Meta
	samples chunkenc.Iterator
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
		b.result.Rejected++
		b.options.Reject(b.folder, 0, err.Error())
		return nil
	}
	number := b.number(name, nil)
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
			if value.IsStaleNaN(v) || b.isDeleted(ms) {
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

// isDeleted reports whether the series' sample at a time was deleted.
func (b *block) isDeleted(ms int64) bool {
	return slices.ContainsFunc(b.deleted, func(d tombstones.Interval) bool { return d.InBounds(ms) })
}

// sample adds a sample of a series.
func (i *Importer) sample(folder string, number uint32, ms int64, v float64) error {
	t := carbonara.Timestamp(ms) * 1e6
	m := i.metrics[number]
	if ms < 0 || ms > int64(carbonara.MaxTimestamp)/1e6 || t > i.latest {
		i.result.Rejected++
		i.options.Reject(folder, 0, fmt.Sprintf("time %d ms of series %s lies before 1970 or ahead of the clock", ms, m))
		return nil
	}
	m.newest = max(m.newest, t)
	m.rows++
	return i.rows.add(t, v, number)
}
