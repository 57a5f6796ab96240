package server

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"gnocco/internal/pause"
	"gnocco/internal/peer"
	"gnocco/metricd"
	"gnocco/model"
)

// source is an incoming store that this process's sacks take from.
type source struct {
	id     string
	epoch  uint64       // of the claim of who holds it
	remote *peer.Source // nil if this process holds it
}

// keepSources lets the sacks take from all incoming stores that there are, wherever they are held.
func (n *node) keepSources(ctx context.Context) error {
	n.sourcing.Lock()
	defer n.sourcing.Unlock()
	names, err := n.folder.incomingNames()
	if err != nil {
		return err
	}
	for name := range n.sources {
		if !slices.Contains(names, name) {
			n.detachLocked(name)
		}
	}
	stores := n.heldStores()
	var errs []error
	for _, name := range names {
		if store := stores[name]; store != nil {
			epoch, _ := n.claims.holds(name)
			errs = append(errs, n.attach(name, store, source{id: store.ID(), epoch: epoch}))
			continue
		}
		errs = append(errs, n.attachRemote(ctx, name))
	}
	return errors.Join(errs...)
}

// reachWait is how long a refresh waits for incoming stores that are about to be opened or adopted.
const reachWait = 2 * time.Second

// reachSources returns once the sacks take from all incoming stores that there are: without one of them a refresh would pretend.
func (n *node) reachSources(ctx context.Context) error {
	for deadline := time.Now().Add(reachWait); ; {
		names, err := n.folder.incomingNames()
		if err != nil {
			return err
		}
		missing := n.missingSource(names)
		if missing == "" {
			return nil
		}
		if err := n.keepSources(ctx); err != nil && !errors.Is(err, model.ErrUnavailable) {
			return err
		}
		if n.missingSource(names) == "" {
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

// missingSource returns the first of the incoming stores that the sacks do not take from, "" if they take from all.
func (n *node) missingSource(names []string) string {
	n.sourcing.Lock()
	defer n.sourcing.Unlock()
	for _, name := range names {
		if n.sources[name] == nil {
			return name
		}
	}
	return ""
}

// attach lets the sacks take from a store, unless they do. sourcing is held.
func (n *node) attach(name string, from metricd.Source, as source) error {
	if was := n.sources[name]; was != nil && was.id == as.id && was.epoch == as.epoch {
		return nil
	}
	n.detachLocked(name)
	if err := n.metricd.Attach(from); err != nil {
		n.metricd.Detach(as.id)
		return err
	}
	n.sources[name] = &as
	return nil
}

// attachRemote is attach for a store of another process. One whose process is dead stays attached until it has another
// holder: until then what it has cannot be read, and a refresh must not pretend to have done so. sourcing is held.
func (n *node) attachRemote(ctx context.Context, name string) error {
	holder, err := n.session.Holder(ctx, name)
	if err != nil || !holder.Live() {
		return err
	}
	if was := n.sources[name]; was != nil && was.epoch == holder.Epoch {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, statusTimeout)
	defer cancel()
	status, err := n.client.Status(ctx, holder.Member.Address)
	if err != nil {
		return fmt.Errorf("server: who holds %s: %w", name, err)
	}
	for _, store := range status.Stores {
		if store.Name != name {
			continue
		}
		remote := peer.NewSource(n.client, holder.Member.Address, store.ID, n.logger)
		if err := n.attach(name, remote, source{id: store.ID, epoch: holder.Epoch, remote: remote}); err != nil {
			remote.Close()
			return err
		}
	}
	return nil // it is not open yet; its process wakes us when it is
}

// detach ends taking from a store.
func (n *node) detach(name string) {
	n.sourcing.Lock()
	defer n.sourcing.Unlock()
	n.detachLocked(name)
}

func (n *node) detachLocked(name string) {
	was := n.sources[name]
	if was == nil {
		return
	}
	n.metricd.Detach(was.id)
	if was.remote != nil {
		was.remote.Close()
	}
	delete(n.sources, name)
}

// closeSources ends taking from other processes' stores.
func (n *node) closeSources() error {
	n.sourcing.Lock()
	defer n.sourcing.Unlock()
	for name := range n.sources {
		n.detachLocked(name)
	}
	return nil
}
