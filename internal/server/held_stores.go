package server

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"gnocco/internal/peer"
	"gnocco/storage/claim"
)

// claims are the names that this process holds.
type claims struct {
	session claim.Session
	fs      vfs.FS // fenced
	root    string
	grace   time.Duration // until what came before may be removed
	warn    func(message string, args ...any)

	mu   sync.Mutex
	held map[string]held
}

type held struct {
	claim.Claim
	clearing *time.Timer // removes what came before
}

// take claims a store and returns the folder to open it in.
func (c *claims) take(ctx context.Context, name string) (dir string, err error) {
	got, err := c.session.Claim(ctx, name)
	if err != nil {
		return "", err
	}
	base := filepath.Join(c.root, name)
	if dir, err = claim.TakeOver(c.fs, base, got.Epoch); err != nil {
		return "", errors.Join(err, c.session.Release(ctx, got))
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.held[name] = held{got, time.AfterFunc(c.grace, func() {
		if err := claim.RemoveOld(c.fs, base, got.Epoch); err != nil && c.session.Valid() {
			c.warn("earlier epochs are still there", "store", name, "error", err)
		}
	})}
	return dir, nil
}

// giveBack lets others have a store, which is closed, or was never opened.
func (c *claims) giveBack(ctx context.Context, name string) error {
	h, ok := c.drop(name)
	if !ok {
		return nil
	}
	return errors.Join(claim.MarkClosed(c.fs, filepath.Join(c.root, name), h.Epoch), c.session.Release(ctx, h.Claim))
}

// remove removes a store that is closed, and gives its name back.
func (c *claims) remove(ctx context.Context, name string) error {
	if err := c.fs.RemoveAll(filepath.Join(c.root, name)); err != nil {
		return errors.Join(fmt.Errorf("server: remove %s: %w", name, err), c.giveBack(ctx, name))
	}
	h, ok := c.drop(name)
	if !ok {
		return nil
	}
	return c.session.Release(ctx, h.Claim)
}

// drop forgets what is about to be given back.
func (c *claims) drop(name string) (held, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	h, ok := c.held[name]
	if ok {
		h.clearing.Stop()
		delete(c.held, name)
	}
	return h, ok
}

// holds tells whether this process holds a store, and at which epoch.
func (c *claims) holds(name string) (epoch uint64, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	h, ok := c.held[name]
	return h.Epoch, ok
}

// list returns what this process holds, by name.
func (c *claims) list() []peer.ClaimStatus {
	c.mu.Lock()
	defer c.mu.Unlock()
	list := []peer.ClaimStatus{}
	for _, name := range slices.Sorted(maps.Keys(c.held)) {
		list = append(list, peer.ClaimStatus{Name: name, Epoch: c.held[name].Epoch})
	}
	return list
}
