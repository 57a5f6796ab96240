package cluster

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/gnocco-db/gnocco/cluster/datafolder"
	"github.com/gnocco-db/gnocco/storage/claim"
	"github.com/gnocco-db/gnocco/storage/incoming"
)

// incomingStores are the incoming stores that this process holds: its own one, and those adopted from dead processes.
type incomingStores struct {
	environment *environment
	members     *membership
	logger      *slog.Logger
	folder      *datafolder.Folder
	options     incoming.Options  // for each of them; the rest is the environment's
	detach      func(name string) // ends taking from a store

	own     *incoming.Store // nil in a process of role metricd
	ownName string

	changed atomic.Bool // members may have come, gone or died, or a store was removed, since the last listing

	mu   sync.Mutex
	open map[string]*incoming.Store // by name
	last incomingListing
}

// openOwn takes an incoming store for this process to accept measures in: one that nobody holds, as after a restart,
// else a new one.
func (s *incomingStores) openOwn(ctx context.Context) error {
	names, err := s.folder.IncomingNames()
	if err != nil {
		return err
	}
	for _, name := range names {
		holder, err := s.members.session.Holder(ctx, name)
		if err != nil {
			return err
		}
		if holder.Live() {
			continue
		}
		if s.own, err = s.openStore(ctx, name, s.environment.registerer); err == nil {
			s.ownName = name
			return nil
		}
		if err := tookNothing(name, err); err != nil {
			return err
		}
	}
	var raw [8]byte
	_, _ = rand.Read(raw[:]) // never fails
	s.ownName = datafolder.IncomingPrefix + hex.EncodeToString(raw[:])
	s.own, err = s.openStore(ctx, s.ownName, s.environment.registerer)
	return err
}

// openStore takes and opens an incoming store.
func (s *incomingStores) openStore(ctx context.Context, name string, registerer prometheus.Registerer) (
	*incoming.Store, error) {
	e := s.environment
	options := s.options
	options.FS, options.Cache, options.FileCache = e.ownership.fs, e.cache, e.files
	options.Logger, options.Registerer, options.Collector, options.Fail = e.logger, registerer, e.collector, e.fail
	var store *incoming.Store
	if err := e.open(ctx, name, func(dir string) (err error) {
		store, err = incoming.Open(dir, options)
		return err
	}); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open[name] = store
	return store, nil
}

// held returns the stores that are open, by name.
func (s *incomingStores) held() map[string]*incoming.Store {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.open)
}

// withID returns the open store with an ID, nil if it is not held here.
func (s *incomingStores) withID(id string) *incoming.Store {
	for _, store := range s.held() {
		if store.ID() == id {
			return store
		}
	}
	return nil
}

// unreadable returns a model.DamagedError for an error of reading the store with an ID, if it says that what was read
// is damaged; else the error itself.
func (s *incomingStores) unreadable(id string, err error) error {
	for name, store := range s.held() {
		if store.ID() == id {
			return s.environment.damaged.unreadable(name, err)
		}
	}
	return err
}

// findLost notes the incoming stores that should be there, as the claims and notes say, and are not.
func (s *incomingStores) findLost() error {
	known, err := claim.Known(s.environment.ownership.fs, s.folder.Path, strings.TrimSuffix(datafolder.IncomingPrefix, "/"))
	if err != nil {
		return err
	}
	there, err := s.folder.IncomingNames()
	if err != nil {
		return err
	}
	for _, name := range known {
		if slices.Contains(there, name) {
			continue
		}
		if err := claim.Check(s.environment.ownership.fs, s.folder.Path, name); isDamage(err) {
			_ = s.environment.damaged.note(name, err)
		}
	}
	return nil
}

// lost returns a model.DamagedError if an incoming store of this process's share is damaged or locked: the measures
// that it has accepted cannot be reached.
func (s *incomingStores) lost() error {
	for _, store := range s.environment.damaged.list() {
		if !store.Served && strings.HasPrefix(store.Name, datafolder.IncomingPrefix) {
			return store.Err()
		}
	}
	return nil
}

// reconcile adopts the incoming stores of dead processes, to drain them, and removes the drained ones.
func (s *incomingStores) reconcile(ctx context.Context, members []claim.Member) error {
	listing, err := s.list(s.lost() == nil) // a lost one may be gone
	if err != nil {
		return err
	}
	names := listing.names
	var errs []error
	damaged := s.environment.damaged
	for _, store := range damaged.list() {
		if strings.HasPrefix(store.Name, datafolder.IncomingPrefix) && !slices.Contains(names, store.Name) {
			damaged.forgetGivenBack(store.Name) // another process has drained and removed it
		}
	}
	for _, name := range names {
		if m := claim.StickyRendezvous(members, []string{name}, []string{""})[0]; m == nil || m.ID != s.members.own() {
			damaged.forgetGivenBack(name)
			continue
		}
		if damaged.of(name) != nil {
			if !damaged.due(name) {
				continue
			}
		} else if _, holds := s.environment.ownership.holds(name); holds {
			continue
		}
		errs = append(errs, s.adopt(ctx, name))
	}
	for name, store := range s.held() {
		if name != s.ownName {
			errs = append(errs, s.dismiss(ctx, name, store))
		}
	}
	return errors.Join(errs...)
}

// incomingListing is a listing of the incoming stores.
type incomingListing struct {
	names []string
	began time.Time
}

// listInterval is how often a process lists the incoming stores. They are announced, and adopted after a change of
// members.
const listInterval = 2500 * time.Millisecond

// list lists the incoming stores, also those that this process does not hold. recent allows the last listing, unless
// the members have changed since.
func (s *incomingStores) list(recent bool) (incomingListing, error) {
	s.mu.Lock()
	last := s.last
	s.mu.Unlock()
	if recent && !s.changed.Swap(false) && time.Since(last.began) < listInterval {
		return last, nil
	}
	began := time.Now()
	names, err := s.folder.IncomingNames()
	if err != nil {
		return last, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.last.began.Before(began) {
		s.last = incomingListing{names, began}
	}
	return incomingListing{names, began}, nil
}

// adopt takes an incoming store if its process is gone.
func (s *incomingStores) adopt(ctx context.Context, name string) error {
	if free, err := s.environment.isFree(ctx, name); err != nil || !free {
		return err
	}
	store, err := s.openStore(ctx, name, nil)
	if err != nil {
		return tookNothing(name, err)
	}
	s.logger.Info("adopted an incoming store", "store", name, "measures", store.Backlog().Measures)
	go s.members.wakeOthers(ctx, hasRole(RoleMetricd))
	return nil
}

// dismiss removes an adopted store once the archives have everything from it.
func (s *incomingStores) dismiss(ctx context.Context, name string, store *incoming.Store) error {
	if empty, err := store.Empty(); err != nil || !empty {
		return err
	}
	s.detach(name)
	if err := s.closeStore(name, store); err != nil {
		if !errors.Is(err, incoming.ErrTimeout) {
			s.environment.fail(err) // nobody could open it while this process holds it
		}
		return err
	}
	s.logger.Info("an adopted incoming store is drained, and removed", "store", name)
	defer s.changed.Store(true) // the last listing has it: it would be adopted anew
	return s.environment.ownership.remove(ctx, name)
}

// closeStore closes a store, unless the disk does not take what waits: then it stays open, and is closed later.
func (s *incomingStores) closeStore(name string, store *incoming.Store) error {
	s.mu.Lock()
	delete(s.open, name)
	s.mu.Unlock()
	err := store.Close()
	if errors.Is(err, incoming.ErrTimeout) {
		s.mu.Lock()
		s.open[name] = store
		s.mu.Unlock()
	}
	return err
}

// close closes all of them, and lets others take them.
func (s *incomingStores) close(ctx context.Context) error {
	var errs []error
	for name, store := range s.held() {
		empty, emptyErr := store.Empty()
		err := s.closeStore(name, store)
		if errs = append(errs, err); err != nil {
			continue
		}
		if name != s.ownName && emptyErr == nil && empty {
			errs = append(errs, s.environment.ownership.remove(ctx, name))
			continue
		}
		errs = append(errs, s.environment.ownership.giveBack(ctx, name))
	}
	return errors.Join(errs...)
}
