package cluster

import (
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/gnocco-db/gnocco/metricd"
	"github.com/gnocco-db/gnocco/metricd/intake"
	"github.com/gnocco-db/gnocco/storage/claim"
)

// knownStores are the incoming stores that this process's sacks know of. It tells the workers which of them have to be
// heard before a measure is settled (metricd/intake), and does without those that say nothing for too long: else they
// would keep raw measures of all metrics for ever.
type knownStores struct {
	wait     time.Duration // for a store that says nothing
	complete time.Time     // from then on a listing of the folder has every store
	tell     func(intake.Sources)
	logger   *slog.Logger

	suspensions prometheus.Counter

	mu     sync.Mutex
	listed bool // since complete
	stores map[string]*knownStore
}

// newKnownStores returns the incoming stores that the workers know of: none yet. On a local disk a listing has every
// store that was made before.
func newKnownStores(o *Options, data string, own *metricd.Metricd, logger *slog.Logger) *knownStores {
	k := &knownStores{wait: o.OrderWait, complete: time.Now(), tell: own.SetSources, logger: logger,
		stores: make(map[string]*knownStore), suspensions: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "gnocco_order_suspensions_total",
			Help: "Incoming stores that were silent for --order-wait: from then on measures may be taken for too old."})}
	if !claim.IsLocal(o.FS, data) {
		k.complete = k.complete.Add(o.claimOptions().Slack)
	}
	o.Registerer.MustRegister(k.suspensions, prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "gnocco_order_suspended_stores", Help: "Incoming stores whose order is not waited for."},
		func() float64 { return float64(len(k.suspended())) }))
	return k
}

type knownStore struct {
	id        string    // "" before it was attached
	announced time.Time // by its process; zero once a listing has shown it
	silent    time.Time // since when nothing was heard; zero if it answers
	suspended bool
}

// announceStays is how long a store counts that its process has announced, and that no listing shows: caches of the
// file system may hide it.
const announceStays = time.Minute

// announce notes a store that is about to accept measures.
func (k *knownStores) announce(name string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.add(name).announced = time.Now()
	k.publish()
}

// add returns the store of a name, a new one that was not heard yet if it is unknown. mu is held.
func (k *knownStores) add(name string) *knownStore {
	s := k.stores[name]
	if s == nil {
		s = &knownStore{silent: time.Now()}
		k.stores[name] = s
	}
	return s
}

// list notes the stores that a listing has shown, which was begun at a time, and returns them with those that were
// announced.
func (k *knownStores) list(names []string, began time.Time) []string {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.listed = k.listed || !began.Before(k.complete)
	for _, name := range names {
		k.add(name).announced = time.Time{} // from now on listings say when it is gone
	}
	names = k.withAnnounced(names)
	maps.DeleteFunc(k.stores, func(name string, _ *knownStore) bool { return !slices.Contains(names, name) })
	k.publish()
	return names
}

// withAnnounced returns the names of a listing and those of stores that were announced since. mu is held.
func (k *knownStores) withAnnounced(names []string) []string {
	for name, s := range k.stores {
		if !slices.Contains(names, name) && time.Since(s.announced) < announceStays {
			names = append(names, name)
		}
	}
	return names
}

// heard notes that the sacks take from a store, and for how long it was silent.
func (k *knownStores) heard(name, id string, silent time.Duration) {
	k.mu.Lock()
	defer k.mu.Unlock()
	s := k.stores[name]
	if s == nil {
		return
	}
	s.id, s.silent = id, time.Time{}
	if silent > 0 {
		s.silent = time.Now().Add(-silent)
	}
	k.publish()
}

// unheard notes that the sacks do not take from a store.
func (k *knownStores) unheard(name string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if s := k.stores[name]; s != nil && s.silent.IsZero() {
		s.silent = time.Now()
	}
	k.publish()
}

// publish tells the workers. mu is held.
func (k *knownStores) publish() {
	known := intake.Sources{Complete: k.listed}
	for name, s := range k.stores {
		suspended := !s.silent.IsZero() && time.Since(s.silent) > k.wait
		if suspended != s.suspended {
			s.suspended = suspended
			if suspended {
				k.suspensions.Inc()
				k.logger.Warn("incoming store is silent; the order of its measures is not waited for any more",
					"store", name, "wait", k.wait)
			} else {
				k.logger.Info("incoming store is heard again; the order of its measures is waited for", "store", name)
			}
		}
		switch {
		case suspended:
		case s.id == "":
			known.Complete = false
		default:
			known.Waited = append(known.Waited, s.id)
		}
	}
	k.tell(known)
}

// suspended returns the names of the stores whose order is not waited for.
func (k *knownStores) suspended() []string {
	k.mu.Lock()
	defer k.mu.Unlock()
	var names []string
	for name, s := range k.stores {
		if s.suspended {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}
