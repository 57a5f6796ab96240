package cluster

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

	"github.com/gnocco-db/gnocco/cluster/datafolder"
	"github.com/gnocco-db/gnocco/cluster/peer"
	"github.com/gnocco-db/gnocco/internal/repeated"
	"github.com/gnocco-db/gnocco/storage/claim"
	"github.com/gnocco-db/gnocco/storage/engine"
)

// ownership knows the stores that this process holds, by name.
type ownership struct {
	session claim.Session
	fs      *engine.Recorder // fenced
	root    string
	local   bool          // the folder is on a disk of this machine: earlier epochs need not stay once a store is open
	grace   time.Duration // until earlier epochs may be removed elsewhere, and the rest of them here
	warn    func(message string, args ...any)
	check   func() error // of the data folder; nil: none

	unrecorded *repeated.Warning

	mu   sync.Mutex
	held map[string]held
}

type held struct {
	claim.Claim
	clearing *time.Timer // removes earlier epochs; nil until the store is open
	closed   bool        // the store is not written to any more, and is to be given back
	giving   bool        // it is being given back
	unwanted bool        // the store is to be removed before
}

// claim claims a store, unless this process has it claimed, and returns the folder to open it in. opened, notOpened or
// giveBack follows, also after an error.
func (c *ownership) claim(ctx context.Context, name string) (dir string, err error) {
	h, claimed := c.change(name, func(*held) {})
	if h.closed {
		return "", fmt.Errorf("cluster: %s is to be given back first: %w", name, claim.ErrHeld)
	}
	if err := claim.CheckFormat(c.fs, c.root, name, datafolder.FormatOf(name)); err != nil {
		return "", err
	}
	epoch := h.Epoch
	if claimed { // what lay there when the store was claimed may have been removed since
		if _, err := claim.HighestFolder(c.fs, c.root, name, nil); err != nil {
			return "", fmt.Errorf("cluster: %s: %w", name, err)
		}
	} else {
		// Where the mount is gone nobody seems to hold anything.
		if c.check != nil {
			if err := c.check(); err != nil {
				return "", err
			}
		}
		got, err := c.session.Claim(ctx, name)
		if err != nil {
			return "", err
		}
		c.mu.Lock()
		c.held[name] = held{Claim: got}
		c.mu.Unlock()
		epoch = got.Epoch
	}
	if dir, err = claim.TakeOver(c.fs, c.root, name, epoch); err != nil {
		return "", err
	}
	if err := claim.NoteStore(c.fs, c.root, name, datafolder.FormatOf(name)); err != nil || c.check == nil {
		return dir, err
	}
	return dir, c.check() // or the store was looked for below the mount point, and seems new
}

// opened notes that a store was opened, and so is known to hold as much as its last epoch: that can go. On a network
// disk it stays for a while, since others may not see the new one yet; see claim.RemoveOld.
func (c *ownership) opened(name string) {
	h, ok := c.change(name, func(h *held) {
		if h.clearing != nil {
			h.clearing.Stop()
		}
		epoch := h.Epoch
		h.clearing = time.AfterFunc(c.grace, func() { c.removeOld(name, epoch) })
	})
	if !ok {
		return
	}
	if err := claim.MarkOpened(c.fs, c.root, name, h.Epoch); err != nil && c.session.Valid() {
		c.warn("the store's removal would not be noticed after a crash", "store", name, "error", err)
	}
	if c.local {
		c.removeOld(name, h.Epoch)
	}
}

func (c *ownership) removeOld(name string, epoch uint64) {
	if err := claim.RemoveOld(c.fs, filepath.Join(c.root, name), epoch); err != nil && c.session.Valid() {
		c.warn("earlier epochs are still there", "store", name, "error", err)
	}
}

// keepEarlier keeps what a store was before for longer: the store turned out to be damaged. It reports whether the
// store was opened under this claim.
func (c *ownership) keepEarlier(name string) (opened bool) {
	h, _ := c.change(name, func(*held) {})
	if h.clearing != nil {
		h.clearing.Stop()
	}
	return h.clearing != nil
}

// notOpened makes a store's folder what it was before take: the store cannot be opened, and nothing is to be lost of
// it. The claim stays. A store that was opened before, under this claim, may have grown: it stays as it is.
func (c *ownership) notOpened(name string) error {
	h, ok := c.change(name, func(*held) {})
	if !ok || c.keepEarlier(name) {
		return nil
	}
	dir := filepath.Join(c.root, name)
	if opened, _ := c.fs.Opened(claim.Folder(c.fs, dir, h.Epoch)); opened {
		return nil // Pebble has opened it, and written: only its values were unusable
	}
	return claim.UndoTakeOver(c.fs, dir, h.Epoch)
}

// record records how far the logs and manifests of the stores are durable.
func (c *ownership) record() {
	if err := c.fs.Record(); err == nil || c.session.Valid() {
		c.unrecorded.Note(err)
	}
}

// giveBack lets others take a store, which is closed, or was never opened. If that fails, as on a full disk,
// giveBackRest tries again: until then no process can take the store.
func (c *ownership) giveBack(ctx context.Context, name string) error {
	h, ok := c.beginToGiveBack(name)
	if !ok {
		return nil
	}
	err := c.giveBackClosed(ctx, name, h)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.held[name].Epoch != h.Epoch {
		return err // taken again, by another goroutine
	}
	if h.giving = false; err != nil {
		c.held[name] = h
	} else {
		delete(c.held, name)
	}
	return err
}

// beginToGiveBack notes that a store is closed. It returns false if the store is not held, or being given back already.
func (c *ownership) beginToGiveBack(name string) (held, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	h, ok := c.held[name]
	if !ok || h.giving {
		return h, false
	}
	h.closed, h.giving = true, true
	c.held[name] = h
	return h, true
}

func (c *ownership) giveBackClosed(ctx context.Context, name string, h held) error {
	if h.clearing != nil {
		h.clearing.Stop()
	}
	if h.unwanted {
		if err := claim.Remove(c.fs, c.root, name); err != nil {
			return err
		}
	} else if err := claim.MarkClosed(c.fs, filepath.Join(c.root, name), h.Epoch); err != nil {
		folder := claim.Folder(c.fs, filepath.Join(c.root, name), h.Epoch)
		if _, statErr := c.fs.Stat(folder); !errors.Is(statErr, os.ErrNotExist) {
			return err // without a folder there is nothing to mark
		}
	}
	return c.session.Release(ctx, h.Claim)
}

// giveBackRest gives back the stores that could not be given back before.
func (c *ownership) giveBackRest(ctx context.Context) error {
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
func (c *ownership) remove(ctx context.Context, name string) error {
	c.change(name, func(h *held) { h.unwanted = true })
	return c.giveBack(ctx, name)
}

// change changes the record of a held store, and returns the new one.
func (c *ownership) change(name string, change func(*held)) (h held, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if h, ok = c.held[name]; ok {
		change(&h)
		c.held[name] = h
	}
	return h, ok
}

// holds reports whether this process holds a store, and at which epoch.
func (c *ownership) holds(name string) (epoch uint64, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	h, ok := c.held[name]
	return h.Epoch, ok
}

// list returns the stores that this process holds, sorted by name.
func (c *ownership) list() []peer.ClaimStatus {
	c.mu.Lock()
	defer c.mu.Unlock()
	list := []peer.ClaimStatus{}
	for _, name := range slices.Sorted(maps.Keys(c.held)) {
		list = append(list, peer.ClaimStatus{Name: name, Epoch: c.held[name].Epoch})
	}
	return list
}
