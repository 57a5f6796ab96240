package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/google/uuid"

	"gnocco/carbonara"
	"gnocco/cluster/datafolder"
	"gnocco/model"
	"gnocco/storage/archive"
	"gnocco/storage/incoming"
	"gnocco/storage/index"
)

// target is a data folder that no server has served yet. While a pass writes it, it has another name, under which no
// server looks for it:
//
//	DATA.migrating/            DATA, once the pass is at its end
//	  migration.json           source, and the passes so far
//	  migration.log            a line for each archive that was written: pass, metric
//	  index/e1, sacks/nnn/e1   stores, as a server takes them over
//	  index.new/e1             the index of the pass under way
//	  incoming/gnocchi/e1      measures that the source had not processed
type target struct {
	path, stage string
	folder      *datafolder.Folder
	sacks       []*targetSack
	state       migration
	log         *progressLog
	cache       *pebble.Cache
	files       *pebble.FileCache
}

const (
	stageSuffix = ".migrating"
	stateFile   = "migration.json"
	logFile     = "migration.log"

	commitBytes = 1 << 20         // of a sack's batch
	commitAfter = 2 * time.Second // what a kill takes back has to be read again
	cacheBytes  = 64 << 20
	openTables  = 512
	fileShards  = 8
)

// targetSack is the store of a sack with the batch under way.
type targetSack struct {
	store *archive.Store

	mu         sync.Mutex
	checkpoint *archive.Checkpoint // nil where nothing waits
	begun      time.Time           // of checkpoint
	metrics    []uuid.UUID         // that are in it as a whole
}

// openTarget takes the folder at path, or makes one for a source, and begins a pass or goes on with the one that was cut
// short.
func openTarget(path, from string, sacks int) (*target, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	t := &target{path: path, stage: path + stageSuffix}
	if err := t.moveIn(); err != nil {
		return nil, err
	}
	lock, err := os.OpenFile(filepath.Join(t.stage, "lock"), os.O_CREATE|os.O_RDWR, 0o640)
	if err != nil {
		return nil, err
	}
	if err := lock.Close(); err != nil {
		return nil, err
	}
	if t.folder, err = datafolder.Hold(t.stage); err != nil {
		return nil, err
	}
	if err := t.open(from, sacks); err != nil {
		return nil, errors.Join(err, t.close())
	}
	return t, nil
}

// moveIn gives the folder its name for the time of the pass.
func (t *target) moveIn() error {
	_, stageErr := os.Stat(t.stage)
	entries, err := os.ReadDir(t.path)
	switch {
	case errors.Is(err, fs.ErrNotExist) || err == nil && len(entries) == 0:
		if stageErr == nil {
			return nil
		}
		if err == nil {
			if err := os.Remove(t.path); err != nil {
				return err
			}
		}
		return os.MkdirAll(t.stage, 0o750)
	case err != nil:
		return err
	case stageErr == nil:
		return fmt.Errorf("both %s and %s exist: remove one of them", t.path, t.stage)
	}
	for _, e := range entries {
		if e.Name() == "members" || e.Name() == "claims" {
			return fmt.Errorf("%s has been served: another pass would lose what that server took", t.path)
		}
	}
	if _, err := os.Stat(filepath.Join(t.path, stateFile)); err != nil {
		return fmt.Errorf("%s was not made by gnocco-migrate: %w", t.path, err)
	}
	folder, err := datafolder.Hold(t.path) // nobody serves it
	if err != nil {
		return err
	}
	return errors.Join(os.Rename(t.path, t.stage), folder.Release())
}

func (t *target) open(from string, sacks int) error {
	if err := t.readState(from); err != nil {
		return err
	}
	cluster, err := t.folder.EnsureClusterFile(sacks, datafolder.CoordinationFile)
	if err != nil {
		return err
	}
	if t.log, err = openProgressLog(filepath.Join(t.stage, logFile)); err != nil {
		return err
	}
	t.cache, t.files = pebble.NewCache(cacheBytes), pebble.NewFileCache(fileShards, openTables)
	for sack := range cluster.Sacks {
		store, err := archive.Open(filepath.Join(t.stage, datafolder.SackName(sack), "e1"), archive.Options{Cache: t.cache, FileCache: t.files})
		if err != nil {
			return err
		}
		t.sacks = append(t.sacks, &targetSack{store: store})
	}
	return nil
}

func (t *target) sackOf(id uuid.UUID) *targetSack { return t.sacks[model.Sack(id, len(t.sacks))] }

// since returns from where on a metric's groups may have changed since it was last written whole; 0: all of them.
func (t *target) since(m *model.Metric) (carbonara.Timestamp, error) {
	if t.log.pass(m.ID) == 0 {
		return 0, nil
	}
	plan := m.ArchivePolicy.Plan()
	newest, ok, err := t.sackOf(m.ID).store.Newest(m.ID, plan.Granularities[0])
	if err != nil || !ok {
		return 0, err
	}
	block := carbonara.Timestamp(plan.Coarsest())
	since := newest.Floor(plan.Coarsest()) - carbonara.Timestamp(m.ArchivePolicy.BackWindowBlocks())*block
	for _, g := range plan.Granularities {
		since = min(since, since.Floor(g))
	}
	return max(0, since), nil
}

// put writes what a source has of a metric, all of it or what may have changed since a time.
func (t *target) put(m *model.Metric, a *archived, since carbonara.Timestamp) (unknown inexact, err error) {
	s := t.sackOf(m.ID)
	// The conversion is done before the lock is taken.
	var all []*carbonara.Groups
	for _, g := range m.ArchivePolicy.Granularities() {
		groups, some := groupsOf(m.ArchivePolicy, g, a.aggregates[g])
		unknown.add(some)
		all = append(all, groups)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.begin()
	if since == 0 {
		if err := c.Delete(m.ID); err != nil {
			return unknown, err
		}
	}
	for _, groups := range all {
		if err := c.PutGroups(m.ID, groups); err != nil {
			return unknown, err
		}
	}
	if a.raw != nil {
		err = putRaw(c, m, a.raw)
	} else {
		err = putPartial(c, m, all)
	}
	if err != nil {
		return unknown, err
	}
	s.metrics = append(s.metrics, m.ID)
	if c.Bytes() < commitBytes && time.Since(s.begun) < commitAfter {
		return unknown, nil
	}
	return unknown, t.commit(s)
}

// begin returns the batch under way. s.mu is held, or nobody else uses s.
func (s *targetSack) begin() *archive.Checkpoint {
	if s.checkpoint == nil {
		s.checkpoint, s.begun = s.store.NewCheckpoint(), time.Now()
	}
	return s.checkpoint
}

// putRaw writes a raw series, which is complete from the back window on.
func putRaw(c *archive.Checkpoint, m *model.Metric, raw *series) error {
	n := len(raw.timestamps)
	if n == 0 {
		return nil
	}
	plan := m.ArchivePolicy.Plan()
	block := carbonara.Timestamp(plan.Coarsest())
	oldest := raw.timestamps[n-1].Floor(plan.Coarsest()) - carbonara.Timestamp(m.ArchivePolicy.BackWindowBlocks())*block
	return c.AppendRaw(m.ID, max(0, oldest), raw.timestamps, raw.values)
}

// putPartial writes what stands for the raw series where there is none: all measures so far count as if they were from
// the start of the newest group, and are known by that group's and wider groups' aggregates. Measures after that
// are added to these groups. Percentiles cannot be added to, and are unknown from then on.
func putPartial(c *archive.Checkpoint, m *model.Metric, all []*carbonara.Groups) error {
	finest := all[0]
	n := finest.Len()
	if n == 0 {
		return nil
	}
	newest := finest.Starts[n-1]
	partial := &archive.PartialGroups{Before: newest + 1}
	for _, groups := range all {
		if i, ok := slices.BinarySearch(groups.Starts, newest.Floor(groups.Granularity)); ok {
			partial.Rows = append(partial.Rows, withoutPercentiles(groups.Slice(i, i+1)))
		}
	}
	if err := c.AppendRaw(m.ID, partial.Before, []carbonara.Timestamp{newest}, []float64{lastValue(finest)}); err != nil {
		return err
	}
	return c.SetPartialGroups(m.ID, partial)
}

// withoutPercentiles returns a group whose percentiles are unknown.
func withoutPercentiles(group carbonara.Groups) carbonara.Groups {
	for i, c := range group.Columns {
		if c.Percentile() > 0 {
			group.Values[i] = []float64{carbonara.Absent()}
		}
	}
	return group
}

// lastValue returns the value of the newest measure, as far as the newest group tells: the next difference starts there.
func lastValue(g *carbonara.Groups) float64 {
	i := g.Len() - 1
	get := func(c carbonara.Column) float64 {
		if values := g.Column(c); values != nil && !carbonara.IsAbsent(values[i]) {
			return values[i]
		}
		return math.NaN()
	}
	if g.Column(carbonara.ColumnLast) != nil {
		return get(carbonara.ColumnLast)
	}
	if n := get(carbonara.ColumnCount); g.Column(carbonara.ColumnSum) != nil && n > 0 {
		return get(carbonara.ColumnSum) / n
	}
	if g.Column(carbonara.ColumnMax) != nil {
		return get(carbonara.ColumnMax)
	}
	return get(carbonara.ColumnMin)
}

// commit makes the batch of a sack durable, and then notes its metrics. s.mu is held.
func (t *target) commit(s *targetSack) error {
	if s.checkpoint == nil {
		return nil
	}
	c := s.checkpoint
	s.checkpoint = nil
	if err := errors.Join(c.SetTime(time.Now()), c.Commit()); err != nil {
		return err
	}
	err := t.log.add(t.state.pass(), s.metrics)
	s.metrics = s.metrics[:0]
	return err
}

// putUnprocessed writes measures that the source has not processed into an incoming store, from which a server processes
// them. It replaces that of an earlier pass. Of each metric's equal timestamps the last one counts.
func (t *target) putUnprocessed(ctx context.Context, waiting map[uuid.UUID]*series) (n int, err error) {
	dir := filepath.Join(t.stage, "incoming")
	if err := os.RemoveAll(dir); err != nil || len(waiting) == 0 {
		return 0, err
	}
	store, err := incoming.Open(filepath.Join(dir, "gnocchi", "e1"), incoming.Options{Sacks: len(t.sacks)})
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	var partition incoming.Partition
	const measuresPerRequest = 100_000
	measures := &model.Measures{Offsets: []int{0}}
	flush := func() error {
		if measures.Len() == 0 {
			return nil
		}
		n += measures.Len()
		err := store.Append(ctx, partition.Blocks(measures, len(t.sacks), time.Now()))
		measures = &model.Measures{Offsets: []int{0}}
		return err
	}
	for id, s := range waiting {
		measures.Metrics = append(measures.Metrics, id)
		measures.Timestamps, measures.Values = append(measures.Timestamps, s.timestamps...), append(measures.Values, s.values...)
		if measures.Offsets = append(measures.Offsets, measures.Len()); measures.Len() >= measuresPerRequest {
			if err := flush(); err != nil {
				return n, err
			}
		}
	}
	return n, flush()
}

// dropOthers deletes the archives of metrics that the source does not have any more.
func (t *target) dropOthers(d *definitions) (dropped int, err error) {
	known := make(map[uuid.UUID]bool, len(d.metrics))
	for _, m := range d.metrics {
		known[m.ID] = true
	}
	for id := range t.log.written {
		if known[id] {
			continue
		}
		s := t.sackOf(id)
		if err := s.begin().Delete(id); err != nil {
			return dropped, err
		}
		dropped++
	}
	return dropped, nil
}

// definitionsPerCommit is how many resources or metrics one commit of the index has.
const definitionsPerCommit = 1000

// putDefinitions writes the index of the pass anew. What cannot be kept is returned as refusals.
func (t *target) putDefinitions(ctx context.Context, d *definitions) (refused []string, err error) {
	fresh := filepath.Join(t.stage, "index.new")
	if err := os.RemoveAll(fresh); err != nil {
		return nil, err
	}
	store, err := index.Open(filepath.Join(fresh, "e1"), index.Options{SkipDefaults: true})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	refuse := func(what string, err error) error {
		if ctx.Err() != nil || !errors.Is(err, model.ErrInvalid) && !errors.Is(err, model.ErrExists) && !errors.Is(err, model.ErrNotFound) {
			return err // the store's
		}
		refused = append(refused, fmt.Sprintf("%s: %v", what, err))
		return nil
	}
	for _, p := range d.policies {
		if err := store.CreateArchivePolicy(ctx, p); err != nil {
			return nil, err
		}
	}
	for _, r := range d.rules {
		if err := store.CreateArchivePolicyRule(ctx, r); err != nil {
			if err := refuse("rule "+r.Name, err); err != nil {
				return nil, err
			}
		}
	}
	for _, k := range d.types {
		if err := store.CreateResourceType(ctx, k); err != nil {
			return nil, err
		}
	}
	metrics := d.byResource()
	var batch []index.NewResource
	create := func(given []index.NewResource) error { return store.CreateResources(ctx, given) }
	flush := func() error {
		err := create(batch)
		if err != nil { // one by one: what is wrong with one keeps no other out
			for i, n := range batch {
				if err := create(batch[i : i+1]); err != nil {
					if err := refuse("resource "+n.Resource.ID.String(), err); err != nil {
						return err
					}
				}
			}
		}
		batch = batch[:0]
		return nil
	}
	for _, r := range d.resources {
		batch = append(batch, index.NewResource{Resource: r.live, Past: r.past, Metrics: metrics[r.live.ID]})
		delete(metrics, r.live.ID)
		if len(batch) == definitionsPerCommit {
			if err := flush(); err != nil {
				return nil, err
			}
		}
	}
	if err := flush(); err != nil {
		return nil, err
	}
	for id, its := range metrics {
		for chunk := range slices.Chunk(its, definitionsPerCommit) {
			if err := store.CreateMetrics(ctx, chunk); err == nil {
				continue
			}
			for i, m := range chunk {
				if err := store.CreateMetrics(ctx, chunk[i:i+1]); err != nil {
					if err := refuse(fmt.Sprintf("metric %s of resource %s", m.ID, id), err); err != nil {
						return nil, err
					}
				}
			}
		}
	}
	return refused, nil
}

// flush makes all that was put durable.
func (t *target) flush() error {
	for _, s := range t.sacks {
		s.mu.Lock()
		err := t.commit(s)
		s.mu.Unlock()
		if err != nil {
			return err
		}
	}
	return nil
}

// finish ends the pass: the folder gets its name.
func (t *target) finish() error {
	if err := t.flush(); err != nil {
		return err
	}
	index := filepath.Join(t.stage, "index")
	if err := os.RemoveAll(index); err != nil {
		return err
	}
	if err := os.Rename(filepath.Join(t.stage, "index.new"), index); err != nil {
		return err
	}
	t.state.Passes = append(t.state.Passes, t.state.Pass)
	t.state.Pass = passState{}
	if err := t.writeState(); err != nil {
		return err
	}
	if err := t.close(); err != nil {
		return err
	}
	if err := os.Rename(t.stage, t.path); err != nil {
		return err
	}
	return syncFolder(filepath.Dir(t.path))
}

// close gives the folder up as it is. What was committed stays.
func (t *target) close() error {
	var errs []error
	for _, s := range t.sacks {
		if s.checkpoint != nil {
			errs = append(errs, s.checkpoint.Close())
		}
		errs = append(errs, s.store.Close())
	}
	t.sacks = nil
	if t.files != nil {
		t.files.Unref()
		t.cache.Unref()
		t.files = nil
	}
	if t.log != nil {
		errs = append(errs, t.log.close())
		t.log = nil
	}
	if t.folder != nil {
		errs = append(errs, t.folder.Release())
		t.folder = nil
	}
	return errors.Join(errs...)
}

func syncFolder(path string) error {
	folder, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}

// bytes returns what the folder takes.
func (t *target) bytes() (n int64) {
	path := t.path
	if _, err := os.Stat(path); err != nil {
		path = t.stage
	}
	_ = filepath.WalkDir(path, func(_ string, e fs.DirEntry, err error) error {
		if err != nil {
			return nil
		}
		if info, err := e.Info(); err == nil && !e.IsDir() && !strings.HasPrefix(e.Name(), "lock") {
			n += info.Size()
		}
		return nil
	})
	return n
}
