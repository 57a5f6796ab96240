package server

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"

	"github.com/prometheus/client_golang/prometheus"

	"gnocco/storage/claim"
	"gnocco/storage/incoming"
)

// openOwnIncoming takes an incoming store for this process to accept measures in: one that nobody has, as after a restart,
// else a new one.
func (n *node) openOwnIncoming(ctx context.Context) error {
	names, err := n.folder.incomingNames()
	if err != nil {
		return err
	}
	for _, name := range names {
		holder, err := n.session.Holder(ctx, name)
		if err != nil {
			return err
		}
		if holder.Live() {
			continue
		}
		if n.incoming, err = n.openIncoming(ctx, name, n.registry); err == nil {
			n.ownName = name
			return nil
		}
		if !errors.Is(err, claim.ErrHeld) {
			return err
		}
	}
	var raw [8]byte
	_, _ = rand.Read(raw[:]) // never fails
	n.ownName = incomingPrefix + hex.EncodeToString(raw[:])
	n.incoming, err = n.openIncoming(ctx, n.ownName, n.registry)
	return err
}

// openIncoming takes and opens an incoming store.
func (n *node) openIncoming(ctx context.Context, name string, registry prometheus.Registerer) (*incoming.Store, error) {
	dir, err := n.claims.take(ctx, name)
	if err != nil {
		return nil, err
	}
	store, err := incoming.Open(dir, incoming.Options{
		Sacks: n.cluster.Sacks, TailBytes: n.memory.tail, MinFreeBytes: n.options.MinFreeBytes, FS: n.claims.fs,
		Cache: n.cache, FileCache: n.files, Logger: n.options.Logger, Registerer: registry, Collector: n.collector, Fail: n.fail,
	})
	if err != nil {
		return nil, errors.Join(err, n.claims.giveBack(ctx, name))
	}
	n.storesMu.Lock()
	defer n.storesMu.Unlock()
	n.stores[name] = store
	return store, nil
}

// heldStores returns the incoming stores that are open here, by name.
func (n *node) heldStores() map[string]*incoming.Store {
	n.storesMu.Lock()
	defer n.storesMu.Unlock()
	stores := make(map[string]*incoming.Store, len(n.stores))
	for name, store := range n.stores {
		stores[name] = store
	}
	return stores
}

// storeOfID returns the open incoming store with an ID, nil if it is not here.
func (n *node) storeOfID(id string) *incoming.Store {
	for _, store := range n.heldStores() {
		if store.ID() == id {
			return store
		}
	}
	return nil
}

// keepAdopted takes the incoming stores of dead processes, to be drained, and removes those that are.
func (n *node) keepAdopted(ctx context.Context, members []claim.Member) error {
	names, err := n.folder.incomingNames()
	if err != nil {
		return err
	}
	var errs []error
	for _, name := range names {
		if _, holds := n.claims.holds(name); holds {
			continue
		}
		if m := claim.Rendezvous(members, name); m == nil || m.ID != n.session.Member().ID {
			continue
		}
		errs = append(errs, n.adopt(ctx, name))
	}
	for name, store := range n.heldStores() {
		if name != n.ownName {
			errs = append(errs, n.dismiss(ctx, name, store))
		}
	}
	return errors.Join(errs...)
}

// adopt takes an incoming store if its process is gone.
func (n *node) adopt(ctx context.Context, name string) error {
	holder, err := n.session.Holder(ctx, name)
	if err != nil || holder.Live() {
		return err
	}
	store, err := n.openIncoming(ctx, name, nil)
	if err != nil {
		return tookNothing(name, err)
	}
	n.logger.Info("adopted an incoming store", "store", name, "measures", store.Backlog().Measures)
	go n.wakeOthers(ctx, func(m *claim.Member) bool { return m.HasRole(string(RoleMetricd)) })
	return nil
}

// dismiss removes an adopted store if the archives have all that was in it.
func (n *node) dismiss(ctx context.Context, name string, store *incoming.Store) error {
	if empty, err := store.Empty(); err != nil || !empty {
		return err
	}
	n.detach(name)
	if err := n.closeIncoming(name, store); err != nil {
		return err
	}
	n.logger.Info("an adopted incoming store is drained, and removed", "store", name)
	return n.claims.remove(ctx, name)
}

func (n *node) closeIncoming(name string, store *incoming.Store) error {
	n.storesMu.Lock()
	delete(n.stores, name)
	n.storesMu.Unlock()
	return store.Close()
}

// closeIncomings closes the incoming stores, and lets others take them.
func (n *node) closeIncomings(ctx context.Context) error {
	var errs []error
	for name, store := range n.heldStores() {
		empty, emptyErr := store.Empty()
		err := n.closeIncoming(name, store)
		if errs = append(errs, err); err != nil {
			continue
		}
		if name != n.ownName && emptyErr == nil && empty {
			errs = append(errs, n.claims.remove(ctx, name))
			continue
		}
		errs = append(errs, n.claims.giveBack(ctx, name))
	}
	return errors.Join(errs...)
}
