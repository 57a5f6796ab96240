package commits

import (
	"sync"
	"sync/atomic"
)

// commitSync knows which commits are synced. Commits are numbered in the order in which they enter the log, so a sync
// of one covers all before it.
type commitSync struct {
	applied atomic.Uint64 // the number of the last commit; raised before its effect can be read
	synced  atomic.Uint64 // commits up to this one are durable

	mu      sync.Mutex
	changed *sync.Cond // synced or failure
	failure error      // of a sync: the log can promise no more writes
}

func (d *commitSync) init() { d.changed = sync.NewCond(&d.mu) }

// reached records the outcome of commit n.
func (d *commitSync) reached(n uint64, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err != nil {
		d.failure = err
	} else if n > d.synced.Load() {
		d.synced.Store(n)
	}
	d.changed.Broadcast()
}

// waitDurable waits until all that can be read now is durable. It mostly returns at once.
func (d *commitSync) waitDurable() error {
	n := d.applied.Load()
	if d.synced.Load() >= n {
		return nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	for d.synced.Load() < n && d.failure == nil {
		d.changed.Wait()
	}
	return d.failure
}
