package cluster

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/gnocco-db/gnocco/cluster/datafolder"
	"github.com/gnocco-db/gnocco/cluster/peer"
	"github.com/gnocco-db/gnocco/internal/pause"
	"github.com/gnocco-db/gnocco/metricd"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/storage/incoming"
)

// sources are the incoming stores that this process's sacks take from. Only a process with workers has any.
type sources struct {
	members *membership
	logger  *slog.Logger
	folder  *datafolder.Folder
	stores  *incomingStores
	metricd *metricd.Metricd
	known   *knownStores
	clocks  *clocks

	mu       sync.Mutex // held while sources come and go; above the locks of stores and ownership
	fresh    bool       // a listing has shown the stores of all processes that did not announce theirs
	attached map[string]*source
	damaged  map[string]error // model.DamagedErrors of stores that other processes cannot open
}

// source is an incoming store that this process's sacks take from.
type source struct {
	id     string
	epoch  uint64       // of its holder's claim
	remote *peer.Source // nil if this process holds it
}

// reconcile lets the sacks take from all incoming stores of the data folder, wherever they are held. recent allows a
// listing of a moment ago, and leaves stores alone that answer.
func (s *sources) reconcile(ctx context.Context, recent bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	recent = recent && s.fresh
	refreshed := s.fresh || s.folder.RefreshIncomingNames(s.members.session.Member().Node) == nil
	listing, err := s.stores.list(recent)
	if err != nil {
		return err
	}
	s.fresh = refreshed
	names := s.known.list(slices.Clone(listing.names), listing.began)
	for name := range s.attached {
		if !slices.Contains(names, name) {
			s.detachLocked(name)
		}
	}
	stores := s.stores.held()
	var errs []error
	for _, name := range names {
		if store := stores[name]; store != nil {
			epoch, _ := s.stores.environment.ownership.holds(name)
			from := &localSource{store, name, s.stores.environment.damaged}
			errs = append(errs, s.attachLocked(name, from, source{id: store.ID(), epoch: epoch}))
			continue
		}
		if was := s.attached[name]; !recent || was == nil || was.remote == nil || was.remote.Silent() > silentSource {
			errs = append(errs, s.attachRemoteLocked(ctx, name))
		}
	}
	for _, name := range names {
		source := s.attached[name]
		switch {
		case source == nil:
			s.known.unheard(name)
		case source.remote != nil:
			s.known.heard(name, source.id, source.remote.Silent())
		default:
			s.known.heard(name, source.id, 0)
		}
	}
	return errors.Join(errs...)
}

const silentSource = 3 * time.Second // that a holder owes an answer until it is looked up; polls take 2 s

// reach returns once the sacks take from all incoming stores of the data folder: a refresh that missed one would
// pretend. After the deadline it looks once.
func (s *sources) reach(ctx context.Context, deadline time.Time) error {
	if err := s.stores.lost(); err != nil {
		return err
	}
	for {
		names, err := s.folder.IncomingNames()
		if err != nil {
			return err
		}
		s.known.mu.Lock()
		names = s.known.withAnnounced(names)
		s.known.mu.Unlock()
		missing := s.missing(names)
		if missing == "" {
			return nil
		}
		if err := s.reconcile(ctx, false); err != nil && !errors.Is(err, model.ErrUnavailable) {
			return err
		}
		if err := s.damage(missing); err != nil {
			return err // a refresh would pretend, and waiting does not help
		}
		if s.missing(names) == "" {
			continue
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("%w: what %s has accepted cannot be reached", model.ErrUnavailable, missing)
		}
		if err := pause.For(ctx, 20*time.Millisecond); err != nil {
			return err
		}
	}
}

// missing returns the first of the incoming stores that the sacks do not take from, "" if they take from all.
func (s *sources) missing(names []string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.fresh {
		return "an incoming store that no listing shows yet"
	}
	for _, name := range names {
		if s.attached[name] == nil {
			return name
		}
	}
	return ""
}

// damage returns a model.DamagedError if another process has said that a store is damaged.
func (s *sources) damage(name string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.damaged[name]
}

// localSource is an incoming store that this process holds. Damage there is not the fault of the sack that takes from
// it.
type localSource struct {
	*incoming.Store
	name    string
	damaged *damagedStores
}

// Drain implements metricd.Source.
func (s *localSource) Drain(sack int, after uint64, maxBytes int) ([]incoming.Record, error) {
	records, err := s.Store.Drain(sack, after, maxBytes)
	return records, s.damaged.unreadable(s.name, err)
}

// attachLocked makes the sacks take from a store, unless they already do.
func (s *sources) attachLocked(name string, from metricd.Source, as source) error {
	if was := s.attached[name]; was != nil && was.id == as.id && was.epoch == as.epoch {
		return nil
	}
	s.detachLocked(name)
	if err := s.metricd.Attach(from); err != nil {
		s.metricd.Detach(as.id)
		return err
	}
	s.attached[name] = &as
	return nil
}

// attachRemoteLocked attaches a store of another process. The store of a dead process stays attached until another
// process holds it: until then its measures cannot be read, and a refresh must not pretend to have done so.
func (s *sources) attachRemoteLocked(ctx context.Context, name string) error {
	holder, err := s.members.session.Holder(ctx, name)
	if err != nil {
		return fmt.Errorf("%w: who holds %s: %w", model.ErrUnavailable, name, err)
	}
	if !holder.Live() {
		return nil
	}
	delete(s.damaged, name)
	if was := s.attached[name]; was != nil && was.epoch == holder.Epoch {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, statusTimeout)
	defer cancel()
	status, err := s.members.client.Status(ctx, holder.Member.Address)
	if err != nil {
		return fmt.Errorf("cluster: who holds %s: %w", name, err)
	}
	for _, store := range status.Damaged {
		if store.Name == name && !store.Served {
			s.damaged[name] = store.Err()
		}
	}
	for _, store := range status.Stores {
		if store.Name != name {
			continue
		}
		remote := peer.NewSource(s.members.client, holder.Member.Address, store.ID, s.clocks, s.logger)
		if err := s.attachLocked(name, remote, source{id: store.ID, epoch: holder.Epoch, remote: remote}); err != nil {
			remote.Close()
			return err
		}
	}
	return nil // the store is not open yet: its process wakes this one when it is
}

// detach ends taking from a store.
func (s *sources) detach(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.detachLocked(name)
}

func (s *sources) detachLocked(name string) {
	was := s.attached[name]
	if was == nil {
		return
	}
	s.metricd.Detach(was.id)
	if was.remote != nil {
		was.remote.Close()
	}
	delete(s.attached, name)
}

// close ends taking from all stores.
func (s *sources) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for name := range s.attached {
		s.detachLocked(name)
	}
}
