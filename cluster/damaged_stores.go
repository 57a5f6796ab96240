package cluster

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/cockroachdb/pebble/v2"

	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/storage"
	"github.com/gnocco-db/gnocco/storage/claim"
)

// damagedStores are the stores of this process's share that are damaged. The process does without them, and keeps the
// claims that it has on them. No other process tries in vain, and a request for one learns why it is not served.
type damagedStores struct {
	logger *slog.Logger

	mu     sync.Mutex
	stores map[string]*damagedStore // by name
}

// damagedStore is what is known of one.
type damagedStore struct {
	model.DamagedStore
	pause time.Duration // before the store is tried again
	next  time.Time
}

// A damaged store is tried again: a disk of the network may show the rest of it later. Most never get well by
// themselves, so the pause grows.
const (
	firstDamagePause = time.Second
	lastDamagePause  = 5 * time.Minute
)

func newDamagedStores(logger *slog.Logger) *damagedStores {
	return &damagedStores{logger: logger, stores: make(map[string]*damagedStore)}
}

// isDamage reports whether an error of taking or opening a store is the fault of what lies there. An error that another
// store would meet as well, or that passes, is not.
func isDamage(err error) bool {
	for _, other := range []error{claim.ErrHeld, claim.ErrLocked, claim.ErrLost, claim.ErrSuperseded, context.Canceled,
		context.DeadlineExceeded, os.ErrPermission, syscall.EROFS, syscall.ENOSPC, syscall.EDQUOT, syscall.EMFILE,
		syscall.ENFILE, syscall.ENOMEM} {
		if errors.Is(err, other) {
			return false
		}
	}
	return err != nil && (model.IsDamaged(err) || !errors.Is(err, model.ErrUnavailable))
}

// note notes that a store cannot be served, and tells the operator once. It returns a model.DamagedError.
func (d *damagedStores) note(name string, err error) error { return d.add(name, err, false) }

// notePart notes that a part of a store that is served cannot be read. It returns a model.DamagedError.
func (d *damagedStores) notePart(name string, err error) error { return d.add(name, err, true) }

func (d *damagedStores) add(name string, err error, served bool) error {
	reason := reasonOf(name, err)
	d.mu.Lock()
	defer d.mu.Unlock()
	known := d.stores[name]
	if known == nil {
		known = &damagedStore{DamagedStore: model.DamagedStore{Name: name, Since: time.Now().UTC()},
			pause: firstDamagePause}
		d.stores[name] = known
	}
	if served && known.Reason != "" {
		return &model.DamagedError{Store: name, Reason: reason} // the first damaged part stands for all of them
	}
	if known.Reason != reason || known.Served != served {
		known.Reason, known.Served = reason, served
		message, advice := tell(err)
		d.logger.Error(message, "store", name, "error", reason, "served", served, "advice", advice)
	}
	known.next = time.Now().Add(known.pause)
	known.pause = min(2*known.pause, lastDamagePause)
	return &model.DamagedError{Store: name, Reason: reason}
}

// tell returns the message to the operator about an error of a store, and the advice.
func tell(err error) (message, advice string) {
	const rest = "; the rest is served, measures for it wait"
	switch {
	case errors.Is(err, storage.ErrLaterFormat):
		return "store was " + storage.ErrLaterFormat.Error() + rest, "end this process, and start a later version"
	case errors.Is(err, claim.ErrMissing):
		return "store is missing" + rest, "put its folder back, or stop all processes and run gnocco doctor data"
	}
	return "store is damaged" + rest, "stop all processes and run gnocco doctor data"
}

// reasonOf returns what is wrong with a store, as one line that does not change from one attempt to the next.
func reasonOf(name string, err error) string {
	var damaged *model.DamagedError
	if errors.As(err, &damaged) && damaged.Store == name {
		return damaged.Reason
	}
	return strings.Join(strings.Fields(err.Error()), " ")
}

// isWell forgets a store that was opened.
func (d *damagedStores) isWell(name string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.stores[name] != nil {
		delete(d.stores, name)
		d.logger.Info("store that was damaged is served again", "store", name)
	}
}

// forget forgets a store that is another process's share from now on.
func (d *damagedStores) forget(name string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.stores, name)
}

// of returns a model.DamagedError for a store that is not served, else nil.
func (d *damagedStores) of(name string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if known := d.stores[name]; known != nil && !known.Served {
		return &model.DamagedError{Store: name, Reason: known.Reason}
	}
	return nil
}

// due reports whether it is time to try a damaged store again.
func (d *damagedStores) due(name string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	known := d.stores[name]
	return known != nil && !known.Served && time.Now().After(known.next)
}

// list returns them, sorted by name.
func (d *damagedStores) list() []model.DamagedStore {
	d.mu.Lock()
	defer d.mu.Unlock()
	var list []model.DamagedStore
	for _, known := range d.stores {
		list = append(list, known.DamagedStore)
	}
	slices.SortFunc(list, func(a, b model.DamagedStore) int { return strings.Compare(a.Name, b.Name) })
	return list
}

// unreadable returns a model.DamagedError for an error of reading a store that is served, if it says that what was read
// is damaged; else the error itself.
func (d *damagedStores) unreadable(name string, err error) error {
	if pebble.IsCorruptionError(err) {
		return d.notePart(name, err)
	}
	return err
}
