package csvimport

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/value"
	"github.com/prometheus/prometheus/tsdb"
	"github.com/prometheus/prometheus/tsdb/chunkenc"

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
	block, err := tsdb.OpenBlock(nil, folder, nil, nil)
	if err != nil {
		return refusal("%s: %w", folder, err)
	}
	defer func() { err = errors.Join(err, block.Close()) }()
	querier, err := tsdb.NewBlockQuerier(block, block.MinTime(), block.MaxTime())
	if err != nil {
		return refusal("%s: %w", folder, err)
	}
	defer func() { err = errors.Join(err, querier.Close()) }()
	found := querier.Select(ctx, false, nil, labels.MustNewMatcher(labels.MatchRegexp, nameLabel, ".*"))
	histograms := 0
	var samples chunkenc.Iterator
	for found.Next() {
		series := found.At()
		set := series.Labels().Map()
		for name, value := range meta.Thanos.Labels {
			set[name] = value
		}
		name := withLabels(set)
		if err := name.check(); err != nil {
			i.result.Rejected++
			i.options.Reject(folder, 0, err.Error())
			continue
		}
		number := i.number(name, nil)
		samples = series.Iterator(samples)
		for kind := samples.Next(); kind != chunkenc.ValNone; kind = samples.Next() {
			if kind != chunkenc.ValFloat {
				histograms++
				continue
			}
			ms, v := samples.At()
			if value.IsStaleNaN(v) {
				continue
			}
			if err := i.sample(folder, number, ms, v); err != nil {
				return err
			}
		}
		if err := samples.Err(); err != nil {
			return refusal("%s: series %s: %w", folder, name, err)
		}
	}
	if histograms > 0 {
		i.result.Rejected += int64(histograms)
		i.options.Note(fmt.Sprintf("%s: %d samples are native histograms, and left out", folder, histograms))
	}
	if err := found.Err(); err != nil {
		return refusal("%s: %w", folder, err)
	}
	return nil
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
