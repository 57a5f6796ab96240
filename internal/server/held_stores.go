package server

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
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
	closed   bool        // nothing is done to the store any more: it is to be given back
	unwanted bool        // and to be removed before
}

// take claims a store and returns the folder to open it in.
func (c *claims) take(ctx context.Context, name string) (dir string, err error) {
	got, err := c.session.Claim(ctx, name)
	if err != nil {
		return "", err
	}
	base := filepath.Join(c.root, name)
	clear := func() {
		if err := claim.RemoveOld(c.fs, base, got.Epoch); err != nil && c.session.Valid() {
			c.warn("earlier epochs are still there", "store", name, "error", err)
		}
	}
	c.mu.Lock()
	c.held[name] = held{Claim: got, clearing: time.AfterFunc(c.grace, clear)}
	c.mu.Unlock()
	if dir, err = claim.TakeOver(c.fs, base, got.Epoch); err != nil {
		return "", errors.Join(err, c.giveBack(ctx, name))
	}
	return dir, nil
}

// giveBack lets others have a store, which is closed, or was never opened. What fails, as on a full disk, is tried again by
// giveBackRest: until then nobody can have the store.
func (c *claims) giveBack(ctx context.Context, name string) error {
	h, ok := c.change(name, func(h *held) { h.closed = true })
	if !ok {
		return nil
	}
	h.clearing.Stop()
	dir := filepath.Join(c.root, name)
	if h.unwanted {
		if err := c.fs.RemoveAll(dir); err != nil {
			return fmt.Errorf("server: remove %s: %w", name, err)
		}
	} else if err := claim.MarkClosed(c.fs, dir, h.Epoch); err != nil && !errors.Is(err, os.ErrNotExist) { // there may be no folder yet
		return err
	}
	if err := c.session.Release(ctx, h.Claim); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.held, name)
	return nil
}

// giveBackRest gives back what could not be given back before.
func (c *claims) giveBackRest(ctx context.Context) error {
	c.mu.Lock()
	var rest []string
	for name, h := range c.held {
		if h.closed {
			rest = append(rest, name)
		}
	}
	c.mu.Unlock()
	slices.Sort(rest)
	var errs []error
	for _, name := range rest {
		errs = append(errs, c.giveBack(ctx, name))
	}
	return errors.Join(errs...)
}

// remove removes a store that is closed, and gives its name back.
func (c *claims) remove(ctx context.Context, name string) error {
	c.change(name, func(h *held) { h.unwanted = true })
	return c.giveBack(ctx, name)
}

// change changes what is known of a store that is held, and returns that.
func (c *claims) change(name string, change func(*held)) (h held, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if h, ok = c.held[name]; ok {
		change(&h)
		c.held[name] = h
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
