package bench

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/gnocco-db/gnocco/bench/pattern"
	"github.com/gnocco-db/gnocco/bench/report"
	"github.com/gnocco-db/gnocco/storage/archive"
	"github.com/gnocco-db/gnocco/storage/claim"
)

// DiskOptions say what Disk stores.
type DiskOptions struct {
	Metrics  int               // 0: 100
	Days     int               // 0: 1
	Patterns []pattern.Pattern // nil: constant, counter, gauge, random
	PerGroup []int             // measures in a group of one minute; nil: 1 and 6
}

// EnsureDefaults fills in what was left zero.
func (o *DiskOptions) EnsureDefaults() {
	if o.Metrics == 0 {
		o.Metrics = 100
	}
	if o.Days == 0 {
		o.Days = 1
	}
	if len(o.Patterns) == 0 {
		o.Patterns = []pattern.Pattern{pattern.Constant, pattern.Counter, pattern.Gauge, pattern.Random}
	}
	if len(o.PerGroup) == 0 {
		o.PerGroup = []int{1, 6}
	}
}

// Disk measures bytes on disk per stored aggregate, and bytes written per measure, for each pattern. A stored aggregate
// is one group by one aggregation method of the archive policy, also where several methods are answered from the same
// columns. A child's archives are compacted after it was stopped, opened and stopped again; another server's files are
// measured as they are.
func Disk(ctx context.Context, options Options, what DiskOptions) error {
	if err := options.prepare(); err != nil {
		return err
	}
	what.EnsureDefaults()
	for range options.Count {
		for _, kind := range what.Patterns {
			for _, perGroup := range what.PerGroup {
				if err := options.disk(ctx, what, kind, perGroup); err != nil {
					return fmt.Errorf("bench: disk %v: %w", kind, err)
				}
			}
		}
	}
	return nil
}

// payloadBytes of a measure are its timestamp and value, without JSON.
const payloadBytes = 16

func (o *Options) disk(ctx context.Context, what DiskOptions, kind pattern.Pattern, perGroup int) error {
	s, err := o.start(ctx)
	if err != nil {
		return err
	}
	defer s.close()
	step := time.Minute / time.Duration(perGroup)
	w := newWorkload(o.Seed, []pattern.Pattern{kind}, what.Metrics, what.Days*int(24*time.Hour/step), step)
	aggregates := 0
	for _, g := range granularities {
		aggregates += w.groups(g.width) * len(methods)
	}
	o.Logger.Info("storing", "server", s.name, "pattern", kind.String(), "measures", w.measures(),
		"aggregates", aggregates)
	existing, known, err := s.disk()
	if err != nil {
		return err
	}
	m := newMeter(s)
	before := m.read()
	if s.isChild() {
		existing = diskUsage{} // an empty server's files are also its cost
	}
	if _, err := s.send(ctx, w, Restarted); err != nil {
		return err
	}
	total := m.read()
	if m.err != nil {
		return m.err
	}
	var stored kinds
	if s.isChild() {
		if total, err = s.stop(); err != nil {
			return err
		}
		// The next start removes what was obsolete at the stop.
		if err := s.reopen(ctx); err != nil {
			return err
		}
		if _, err := s.stop(); err != nil {
			return err
		}
		if stored, err = compactArchives(s.dataDir()); err != nil {
			return err
		}
	}
	n := float64(w.measures())
	var figures []report.Figure
	if known {
		now, _, err := s.disk()
		if err != nil {
			return err
		}
		figures = append(figures,
			report.Of(float64(now.allocated-existing.allocated)/float64(aggregates), "B-allocated/aggregate"),
			report.Of(float64(now.length-existing.length)/float64(aggregates), "B-disk/aggregate"))
	}
	if s.isChild() {
		figures = append(figures, report.Of(float64(stored.tables)/float64(aggregates), "B-tables/aggregate"),
			report.Of(float64(stored.splits)/float64(aggregates), "B-splits/aggregate"),
			report.Of(float64(stored.raw)/n, "B-raw/measure"))
	}
	if before.written >= 0 && total.written >= 0 {
		written := float64(total.written-before.written) / n
		figures = append(figures, report.Of(written, "B-written/measure"),
			report.Of(written/payloadBytes, "x-payload-written"))
	}
	return o.Report.Add(fmt.Sprintf("Disk/server=%s/pattern=%v/measures-per-group=%d", s.name, kind, perGroup),
		aggregates, figures...)
}

// kinds is what archives hold, in bytes: splits and raw series before the tables' compression, keys included, and the
// tables that hold both.
type kinds struct {
	splits, raw, tables int64
}

// compactArchives compacts the archives of a stopped server, and adds up what is in them.
func compactArchives(dataDir string) (kinds, error) {
	var sum kinds
	dirs, err := filepath.Glob(filepath.Join(dataDir, "sacks", "*"))
	if err != nil {
		return sum, err
	}
	if len(dirs) == 0 {
		return sum, fmt.Errorf("no archives in %s", dataDir)
	}
	for _, dir := range dirs {
		current, _, err := claim.Current(vfs.Default, dir)
		if err != nil {
			return sum, err
		}
		if err := compactArchive(current, &sum); err != nil {
			return sum, err
		}
	}
	return sum, nil
}

func compactArchive(dir string, sum *kinds) (err error) {
	store, err := archive.Open(dir, archive.Options{})
	if err != nil {
		return err
	}
	defer func() {
		if closeErr := store.Close(); err == nil {
			err = closeErr
		}
	}()
	if err := store.Compact(); err != nil {
		return err
	}
	for _, level := range store.DB().Metrics().Levels {
		sum.tables += level.TablesSize
	}
	return sum.add(store.DB())
}

// Keys of a metric: 0x01, the id, the kind; see the package comment of storage/archive.
const (
	metricKeys = 0x01
	kindAt     = 1 + 16
	kindRaw    = 0x00
	kindSplit  = 0x01
)

func (k *kinds) add(db *pebble.DB) error {
	iter, err := db.NewIter(&pebble.IterOptions{LowerBound: []byte{metricKeys}, UpperBound: []byte{metricKeys + 1}})
	if err != nil {
		return err
	}
	for valid := iter.First(); valid; valid = iter.Next() {
		value, err := iter.ValueAndErr()
		if err != nil {
			_ = iter.Close()
			return err
		}
		key := iter.Key()
		if len(key) <= kindAt {
			continue
		}
		switch size := int64(len(key) + len(value)); key[kindAt] {
		case kindRaw:
			k.raw += size
		case kindSplit:
			k.splits += size
		}
	}
	return iter.Close()
}
