package datafolder

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/cockroachdb/pebble/v2"

	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/storage/archive"
	"github.com/gnocco-db/gnocco/storage/claim"
	"github.com/gnocco-db/gnocco/storage/engine"
	"github.com/gnocco-db/gnocco/storage/incoming"
)

// copyBatchBytes is the size at which a batch of the copy is committed.
const copyBatchBytes = 1 << 20

// The new stores share these while they are filled.
const (
	copyCacheBytes      = 64 << 20
	copyOpenFiles       = 512
	copyFileCacheShards = 8
)

// sackCopy has the new stores while they are filled.
type sackCopy struct {
	stores      []*archive.Store
	checkpoints []*archive.Checkpoint // nil where nothing waits
}

// copySacks copies the sacks that the journal does not count as copied.
func (f *Folder) copySacks(ctx context.Context, j *repartition, tell func(Progress)) (err error) {
	marks, err := f.incomingMarks(j.From)
	if err != nil {
		return err
	}
	cache, files := pebble.NewCache(copyCacheBytes), pebble.NewFileCache(copyFileCacheShards, copyOpenFiles)
	defer cache.Unref()
	defer files.Unref()
	target := &sackCopy{checkpoints: make([]*archive.Checkpoint, j.To)}
	defer func() { err = errors.Join(err, target.close()) }()
	for sack := range j.To {
		store, err := archive.Open(filepath.Join(f.Path, newSacksFolder, fmt.Sprintf("%03d", sack),
			fmt.Sprintf("e%d", j.Epoch)),
			archive.Options{FS: f.disk(), Cache: cache, FileCache: files, Sack: archive.Sack{Number: sack, Of: j.To}})
		if err != nil {
			return err
		}
		target.stores = append(target.stores, store)
	}
	for ; j.Copied < j.From; j.Copied++ {
		tell(Progress{j.Copied, j.From})
		if err := f.copySack(ctx, j.Copied, j.From, target); err != nil {
			return fmt.Errorf("sack %d: %w", j.Copied, err)
		}
		next := *j
		next.Copied++
		if err := f.writeJournal(&next); err != nil {
			return err
		}
	}
	tell(Progress{j.Copied, j.From})
	// All measures that the incoming stores have given so far are in the archives, for every sack.
	for sack := range target.stores {
		for source, sequence := range marks {
			target.checkpoint(sack).SetMark(source, sequence)
		}
	}
	if err := target.commit(); err != nil {
		return err
	}
	// The store syncs the names of folders that it makes, and not of those that a killed run has made.
	fresh := filepath.Join(f.Path, newSacksFolder)
	for sack := range j.To {
		if err := claim.SyncFolder(f.disk(), filepath.Join(fresh, fmt.Sprintf("%03d", sack))); err != nil {
			return err
		}
	}
	return claim.SyncFolder(f.disk(), fresh)
}

// copySack copies all content of an old sack, durably. Marks are left out.
func (f *Folder) copySack(ctx context.Context, number, from int, target *sackCopy) error {
	dir, _, err := claim.Current(f.disk(), filepath.Join(f.Path, SackName(number)))
	if err != nil || dir == "" {
		return err
	}
	source, err := f.openSack(dir, number, from)
	if err != nil {
		return err
	}
	holes, err := engine.Walk(source.DB(), nil, func(key, value []byte) error {
		if metric, _, _, ok := archive.ParseKey(key); ok {
			return target.set(model.Sack(metric, len(target.stores)), key, value)
		}
		return ctx.Err()
	})
	if err == nil && len(holes) > 0 {
		err = fmt.Errorf("%w; gnocco fsck says what is damaged", holes[0].Err)
	}
	if err == nil {
		err = source.EachAside(func(a archive.Aside) error {
			metric, _, _, ok := archive.ParseKey(a.Key)
			if !ok {
				// A block of several metrics. Blocks of one request have the same sequence in several sacks.
				source := fmt.Sprintf("%s/%s", a.Source, SackName(number))
				target.checkpoint(number%len(target.stores)).Quarantine(source, a.Sequence, a.Bytes)
			} else {
				target.checkpoint(model.Sack(metric, len(target.stores))).KeepAside(a.Key, a.Bytes)
			}
			return nil
		})
	}
	if err == nil {
		err = target.commit()
	}
	if damaged := source.Close(); err == nil {
		err = damaged
	}
	return err
}

// incomingMarks returns for each incoming store a sequence that is not below any that it gave. Before, it makes sure
// that the store's measures are in the archives of the old sacks.
func (f *Folder) incomingMarks(sacks int) (map[string]uint64, error) {
	marks := make(map[string]uint64)
	consumed := make([]map[string]uint64, sacks)
	for sack := range sacks {
		consumed[sack] = make(map[string]uint64)
		dir, _, err := claim.Current(f.disk(), filepath.Join(f.Path, SackName(sack)))
		if err != nil {
			return nil, err
		}
		if dir == "" {
			continue
		}
		store, err := f.openSack(dir, sack, sacks)
		if err != nil {
			return nil, err
		}
		err = store.EachMark(func(source string, sequence uint64) error {
			consumed[sack][source] = sequence
			return nil
		})
		if err := errors.Join(err, store.Close()); err != nil {
			return nil, err
		}
	}
	err := f.eachIncoming(func(name, dir string) error {
		db, err := engine.Open(dir, engine.Options{FS: f.disk(), ReadOnly: true})
		if err != nil {
			return err
		}
		identity := ""
		type last struct {
			sack     int
			sequence uint64
		}
		var records []last // the last of each sack
		_, err = engine.Walk(db, nil, func(key, value []byte) error {
			e, err := incoming.VerifyEntry(db, key, value)
			switch {
			case e.ClockOf != 0, e.List != 0:
				return err
			case e.Store != "":
				identity, marks[e.Store] = e.Store, e.Above-1
			case len(records) > 0 && records[len(records)-1].sack == e.Sack:
				records[len(records)-1].sequence = e.Sequence
			default:
				records = append(records, last{e.Sack, e.Sequence})
			}
			if e.Store == "" && e.Sequence == 0 {
				return err // not even its key could be read
			}
			return nil
		})
		for _, r := range records {
			if r.sack >= sacks || consumed[r.sack][identity] < r.sequence {
				err = errors.Join(err, fmt.Errorf("%s still holds measures of sack %d that are in no archive", name,
					r.sack))
			}
		}
		return errors.Join(err, db.Close())
	})
	return marks, err
}

// checkpoint returns the batch under way of a new sack.
func (c *sackCopy) checkpoint(sack int) *archive.Checkpoint {
	if c.checkpoints[sack] == nil {
		c.checkpoints[sack] = c.stores[sack].NewCheckpoint()
	}
	return c.checkpoints[sack]
}

func (c *sackCopy) set(sack int, key, value []byte) error {
	checkpoint := c.checkpoint(sack)
	checkpoint.Set(key, value)
	if checkpoint.Bytes() < copyBatchBytes {
		return nil
	}
	c.checkpoints[sack] = nil
	return checkpoint.Commit()
}

// commit makes all batches durable.
func (c *sackCopy) commit() error {
	for sack, checkpoint := range c.checkpoints {
		if checkpoint == nil {
			continue
		}
		c.checkpoints[sack] = nil
		if err := checkpoint.Commit(); err != nil {
			return err
		}
	}
	return nil
}

func (c *sackCopy) close() error {
	var errs []error
	for _, checkpoint := range c.checkpoints {
		if checkpoint != nil {
			checkpoint.Close()
		}
	}
	for _, store := range c.stores {
		errs = append(errs, store.Close())
	}
	return errors.Join(errs...)
}
