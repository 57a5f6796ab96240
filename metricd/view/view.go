package view

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/internal/replica"
	"github.com/gnocco-db/gnocco/metricd/heads"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/storage/archive"
)

// Options of a View. All are needed, except that no GroupBytes means no recent groups.
type Options struct {
	Store      *archive.Store
	Heads      *heads.Heads
	GroupBytes int64       // memory for recent groups
	Memory     *Memory     // shared by the sacks of a process
	Corrupt    func(n int) // counts stored values that do not decode
}

// View is a sack as its reads see it.
type View struct {
	options Options
	closed  bool // guarded by the lock of the heads
	recent  recentCache
}

// ErrClosed says that the view was closed.
var ErrClosed = errors.New("view: closed")

// New returns the view of a store and the heads that continue it. It closes the store.
func New(options Options) (*View, error) {
	v := &View{options: options}
	v.recent.init(options.GroupBytes)
	return v, options.Store.Pin()
}

// Commit makes a change of the store durable, then lets reads see it together with the change of the heads that apply
// makes. The worker calls it. Reads go on while the disk syncs: until the end they see the store and the heads as
// before.
func (v *View) Commit(c *archive.Checkpoint, apply func()) error {
	if err := c.Commit(); err != nil {
		return err
	}
	v.options.Heads.Lock()
	defer v.options.Heads.Unlock()
	apply()
	return v.options.Store.Pin()
}

// IsClosed reports whether Close was called.
func (v *View) IsClosed() bool {
	v.options.Heads.RLock()
	defer v.options.Heads.RUnlock()
	return v.closed
}

// Close closes the store after the reads in progress. Later reads get ErrClosed.
func (v *View) Close() error {
	v.options.Heads.Lock()
	defer v.options.Heads.Unlock()
	if v.closed {
		return nil
	}
	v.closed = true
	return v.options.Store.Close()
}

// read calls f while nothing changes the store or the heads.
func (v *View) read(f func() error) error {
	v.options.Heads.RLock()
	defer v.options.Heads.RUnlock()
	if v.closed {
		return ErrClosed
	}
	return f()
}

// Groups reads what is asked for, as far as the archive policy's timespan goes, into dst: the splits, and on top what
// the head adds.
func (v *View) Groups(ctx context.Context, read model.Read, now time.Time, dst *carbonara.Groups) error {
	return v.read(func() error {
		walk := v.options.Store.SingleWalk()
		err := read.WithLead(dst, func(read model.Read) error { return v.groupsLocked(ctx, &walk, read, now, dst) })
		return errors.Join(err, walk.Close())
	})
}

// EachGroups is Groups for many metrics, cheapest in the order of their IDs: it calls use after each read, with its
// number. All reads see one version, so use must not read the view.
func (v *View) EachGroups(ctx context.Context, reads []model.Read, now time.Time, dst *carbonara.Groups,
	use func(i int) error) error {
	return v.read(func() (err error) {
		walk := v.options.Store.Walk()
		defer func() { err = errors.Join(err, walk.Close()) }()
		for i := range reads {
			dst.Reset(reads[i].Granularity, reads[i].Columns)
			err := reads[i].WithLead(dst, func(read model.Read) error {
				return v.groupsLocked(ctx, &walk, read, now, dst)
			})
			if err != nil {
				return err
			}
			if err := use(i); err != nil {
				return err
			}
		}
		return nil
	})
}

// LastMeasure returns the timestamp of a metric's newest measure that is not ahead or, where all are ahead, of its
// newest one; 0 for none.
func (v *View) LastMeasure(metric uuid.UUID) (last carbonara.Timestamp, err error) {
	err = v.read(func() error {
		if h := v.options.Heads.Of(metric); h != nil {
			last = cmp.Or(h.Present(), h.Newest().Timestamp) // 0 without measures
			return nil
		}
		end, err := v.options.Store.RawEnd(metric)
		last = cmp.Or(end.Present, end.Newest)
		return err
	})
	return last, err
}

// Size returns what a metric takes in the store. Measures that are in no checkpoint yet take nothing; those that were
// dropped or late count.
func (v *View) Size(metric uuid.UUID) (size model.ArchiveSize, err error) {
	err = v.read(func() (err error) {
		size, err = v.options.Store.Size(metric)
		if h := v.options.Heads.Of(metric); h != nil {
			dropped, late := h.Counts()
			size.Dropped += dropped
			size.Late += late
		}
		return err
	})
	return size, err
}

// Forget drops the recent groups of a head. The lock of the heads is held.
func (v *View) Forget(h *heads.Head) { v.recent.forget(h) }

// RecentBytes returns how much memory recent groups have.
func (v *View) RecentBytes() int { return v.recent.bytes() }

// Memory is what reads compute with. The sacks of a process share it.
type Memory struct {
	resampler *carbonara.CPUResampler
	scratches sync.Pool // *scratch
}

// scratch is the memory of one read.
type scratch struct {
	head     heads.Batch
	batch    carbonara.Batch
	result   carbonara.Result
	measures []carbonara.Measure
	raw      heads.Raw
	overlay  carbonara.Groups
	row      []float64
	verdicts replica.Verdicts
}

// NewMemory returns memory for reads that compute groups with a resampler.
func NewMemory(resampler *carbonara.CPUResampler) *Memory {
	return &Memory{resampler: resampler, scratches: sync.Pool{New: func() any { return new(scratch) }}}
}

func (m *Memory) get() *scratch  { return m.scratches.Get().(*scratch) }
func (m *Memory) put(b *scratch) { m.scratches.Put(b) }
