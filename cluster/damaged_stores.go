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
	"github.com/gnocco-db/gnocco/storage/archive"
	"github.com/gnocco-db/gnocco/storage/claim"
)

// damagedStores are the stores of this process's share that are damaged, or cannot be opened for another reason. The
// process does without them, and keeps the claims that it has on them, except on those that it gives back. No other
// process tries in vain, and a request for one learns why it is not served.
type damagedStores struct {
	logger *slog.Logger

	mu     sync.Mutex
	stores map[string]*damagedStore // by name
}

// damagedStore is what is known of one.
type damagedStore struct {
	model.DamagedStore
	givenBack bool          // it is locked, or others would fail as well: see passing
	pause     time.Duration // before the store is tried again
	next      time.Time
	warned    time.Time // that it is given back
}

// A damaged store is tried again: a disk of the network may show the rest of it later. Most never get well by
// themselves, so the pause grows. A locked one gets well when the program ends that has it open, and a full disk when
// somebody makes room; until then each try costs a claim and an epoch.
const (
	firstPause      = time.Second
	lastDamagePause = 5 * time.Minute
	lastBackPause   = time.Minute // of one that is given back
	warnEvery       = time.Minute
)

// passing returns what is wrong, in words that are the same at the next attempt, if another store would meet it as well
// until somebody helps; else nil.
func passing(err error) error {
	for _, cause := range []error{os.ErrPermission, syscall.EROFS, syscall.ENOSPC, syscall.EDQUOT, syscall.EMFILE,
		syscall.ENFILE, syscall.ENOMEM} {
		if errors.Is(err, cause) {
			return cause
		}
	}
	return nil
}

func newDamagedStores(logger *slog.Logger) *damagedStores {
	return &damagedStores{logger: logger, stores: make(map[string]*damagedStore)}
}

// isDamage reports whether an error of taking or opening a store is the fault of the store's files. An error that
// another store would meet as well, or that passes, is not.
func isDamage(err error) bool {
	for _, other := range []error{claim.ErrHeld, claim.ErrLocked, claim.ErrLost, claim.ErrSuperseded, context.Canceled,
		context.DeadlineExceeded} {
		if errors.Is(err, other) {
			return false
		}
	}
	return err != nil && passing(err) == nil && (model.IsDamaged(err) || !errors.Is(err, model.ErrUnavailable))
}

// note notes that a store cannot be served, and tells the operator once. It returns a model.DamagedError.
func (d *damagedStores) note(name string, err error) error { return d.add(name, err, false) }

// notePart notes that a part of a store that is served cannot be read. It returns a model.DamagedError.
func (d *damagedStores) notePart(name string, err error) error { return d.add(name, err, true) }

func (d *damagedStores) add(name string, err error, served bool) error {
	fault, reason := faultOf(name, err)
	givenBack := fault == model.StoreLocked
	if cause := passing(err); cause != nil {
		givenBack, reason = true, cause.Error()
	}
	found := &model.DamagedError{Store: name, Fault: fault, Reason: reason}
	d.mu.Lock()
	defer d.mu.Unlock()
	known := d.stores[name]
	if known == nil {
		known = &damagedStore{DamagedStore: model.DamagedStore{Name: name, Since: time.Now().UTC()}, pause: firstPause}
		d.stores[name] = known
	}
	if served && known.Reason != "" {
		return found // the first damaged part stands for all of them
	}
	changed := known.Fault != fault || known.Reason != reason || known.Served != served
	if known.Fault != fault {
		known.pause = firstPause
	}
	known.Fault, known.Reason, known.Served, known.givenBack = fault, reason, served, givenBack
	d.tell(known, changed)
	known.next = time.Now().Add(known.pause)
	last := lastDamagePause
	if givenBack {
		last = lastBackPause
	}
	known.pause = min(2*known.pause, last)
	return found
}

// tell tells the operator about a store: it logs a change as an error, and repeats that the store is still given back.
// mu is held.
func (d *damagedStores) tell(store *damagedStore, changed bool) {
	message := "store " + store.Fault.Predicate() + "; the rest is served, measures for it wait"
	switch now := time.Now(); {
	case store.givenBack:
		if now.Sub(store.warned) >= warnEvery {
			store.warned = now
			d.logger.Warn(message, "store", store.Name, "for", now.Sub(store.Since).Round(time.Second).String(),
				"error", store.Reason, "advice", adviceOn(store))
		}
	case changed:
		d.logger.Error(message, "store", store.Name, "error", store.Reason, "served", store.Served,
			"advice", adviceOn(store))
	}
}

// adviceOn returns what the operator can do about a store.
func adviceOn(store *damagedStore) string {
	switch {
	case store.Fault == model.StoreLocked:
		return "end the program that has the store open"
	case store.givenBack:
		return "give the process what it lacks; it tries again by itself"
	}
	switch store.Fault {
	case model.StoreLater:
		return "end this process, and start a later version"
	case model.StoreMissing:
		return "put its folder back, or stop all processes and run gnocco doctor data"
	}
	return "stop all processes and run gnocco doctor data"
}

// faultOf returns what is wrong with a store, and a reason in one line that does not change from one attempt to the
// next. An error that fits none of the faults is not called damage: the disk may have failed to answer.
func faultOf(name string, err error) (fault model.StoreFault, reason string) {
	if damaged, ok := errors.AsType[*model.DamagedError](err); ok && damaged.Store == name {
		return damaged.Fault, damaged.Reason
	}
	reason = strings.Join(strings.Fields(err.Error()), " ")
	switch {
	case errors.Is(err, claim.ErrLocked):
		return model.StoreLocked, reason
	case errors.Is(err, storage.ErrLaterFormat):
		return model.StoreLater, reason
	case errors.Is(err, claim.ErrMissing):
		return model.StoreMissing, reason
	case errors.Is(err, storage.ErrCorrupt), errors.Is(err, archive.ErrOtherSack), errors.Is(err, claim.ErrUnstable),
		pebble.IsCorruptionError(err):
		return model.StoreDamaged, reason
	}
	return model.StoreUnopened, reason
}

// isWell forgets a store that was opened.
func (d *damagedStores) isWell(name string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.stores[name] != nil {
		delete(d.stores, name)
		d.logger.Info("store is served again", "store", name)
	}
}

// forget forgets a store that is another process's share from now on.
func (d *damagedStores) forget(name string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.stores, name)
}

// forgetGivenBack forgets a store that was given back, and that is another process's share.
func (d *damagedStores) forgetGivenBack(name string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if known := d.stores[name]; known != nil && known.givenBack {
		delete(d.stores, name)
	}
}

// of returns a model.DamagedError for a store that is not served, else nil.
func (d *damagedStores) of(name string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if known := d.stores[name]; known != nil && !known.Served {
		return known.Err()
	}
	return nil
}

// due reports whether it is time to try a store again.
func (d *damagedStores) due(name string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	known := d.stores[name]
	return known != nil && !known.Served && !time.Now().Before(known.next)
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

// damagedElsewhere knows which stores other processes cannot open and have no claim on, such as one whose folder is
// gone, or that is locked. Of a store that is claimed, its holder says so itself.
type damagedElsewhere struct {
	members *membership

	mu     sync.Mutex
	asked  time.Time
	stores map[string]error // model.DamagedErrors by name
}

// askDamagedTimeout is how long the others have to answer. It is short: requests wait for it.
const askDamagedTimeout = 500 * time.Millisecond

// of returns a model.DamagedError if another process says that a store is damaged. It asks all of them, once a second
// at most.
func (d *damagedElsewhere) of(ctx context.Context, name string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if time.Since(d.asked) > time.Second {
		d.stores, d.asked = d.ask(ctx), time.Now()
	}
	return d.stores[name]
}

func (d *damagedElsewhere) ask(ctx context.Context) map[string]error {
	var mu sync.Mutex
	stores := make(map[string]error)
	_ = d.members.askOthers(ctx, askDamagedTimeout, everyone, func(ctx context.Context, other *claim.Member) {
		answer, err := d.members.client.Status(ctx, other.Address)
		if err != nil {
			return
		}
		mu.Lock()
		defer mu.Unlock()
		for _, store := range answer.Damaged {
			if !store.Served {
				stores[store.Name] = store.Err()
			}
		}
	}) // the reconcile loop logs the error
	return stores
}
