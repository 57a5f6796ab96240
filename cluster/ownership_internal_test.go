package cluster

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"github.com/gnocco-db/gnocco/cluster/datafolder"
	"github.com/gnocco-db/gnocco/storage/claim"
	"github.com/gnocco-db/gnocco/storage/engine"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

// fullFS is a disk that has no room for new files and folders while full is set.
type fullFS struct {
	vfs.FS
	full bool
}

func (f *fullFS) Create(name string, category vfs.DiskWriteCategory) (vfs.File, error) {
	if f.full {
		return nil, syscall.ENOSPC
	}
	return f.FS.Create(name, category)
}

func (f *fullFS) MkdirAll(dir string, perm os.FileMode) error {
	if f.full {
		return syscall.ENOSPC
	}
	return f.FS.MkdirAll(dir, perm)
}

// fullSession gives nothing back while the disk is full.
type fullSession struct {
	claim.Session
	disk *fullFS
}

func (s *fullSession) Release(ctx context.Context, c claim.Claim) error {
	if s.disk.full {
		return syscall.ENOSPC
	}
	return s.Session.Release(ctx, c)
}

// A process claims nothing in a folder that is not the cluster's: below a mount point every store seems to be free.
func TestNothingIsTakenBelowAMountPoint(t *testing.T) {
	root := t.TempDir()
	coordinator, err := claim.NewFile(root, claim.Options{})
	fatal.If(t, err)
	session, err := coordinator.Join(t.Context(), claim.Member{Node: "a"})
	fatal.If(t, err)
	defer func() { _ = session.Leave(context.WithoutCancel(t.Context())) }()
	c := &ownership{session: session, fs: engine.NewRecorder(vfs.Default), root: root, held: make(map[string]held),
		check: func() error { return datafolder.ErrRefused }}
	if _, err := c.claim(t.Context(), "sacks/000"); !errors.Is(err, datafolder.ErrRefused) {
		t.Errorf("taken: %v", err)
	}
	if holder, err := session.Holder(t.Context(), "sacks/000"); holder.Epoch != 0 || err != nil {
		t.Errorf("claimed: %v, %v", holder, err)
	}
}

// A store that could not be given back, or not be taken, since the disk was full, is given back when it has room: else
// nobody could have it for as long as the process lives.
func TestGiveBackOnAFullDisk(t *testing.T) {
	ctx := t.Context()
	root := t.TempDir()
	coordinator, err := claim.NewFile(root, claim.Options{})
	fatal.If(t, err)
	join := func(node string) claim.Session {
		s, err := coordinator.Join(ctx, claim.Member{Node: node})
		fatal.If(t, err)
		t.Cleanup(func() { _ = s.Leave(context.WithoutCancel(ctx)) })
		return s
	}
	disk := &fullFS{FS: vfs.Default}
	c := &ownership{session: &fullSession{join("a"), disk}, fs: engine.NewRecorder(disk), root: root, grace: time.Hour,
		warn: func(string, ...any) {}, held: make(map[string]held)}
	other := join("b")
	const closedStore, unmade, unwanted = "sacks/000", "sacks/001", "incoming/x"
	for _, name := range []string{closedStore, unwanted} {
		if _, err := c.claim(ctx, name); err != nil {
			t.Fatal(err)
		}
	}
	disk.full = true
	if _, err := c.claim(ctx, unmade); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("taken on a full disk: %v", err)
	}
	if err := c.giveBack(ctx, unmade); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("given back on a full disk: %v", err)
	}
	if _, err := c.claim(ctx, unmade); !errors.Is(err, claim.ErrHeld) {
		t.Errorf("taken while it is to be given back: %v", err)
	}
	if err := c.giveBack(ctx, closedStore); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("given back on a full disk: %v", err)
	}
	if err := c.remove(ctx, unwanted); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("removed on a full disk: %v", err)
	}
	for _, name := range []string{closedStore, unmade, unwanted} {
		if _, ok := c.holds(name); !ok {
			t.Errorf("%s is forgotten", name)
		}
		if _, err := other.Claim(ctx, name); !errors.Is(err, claim.ErrHeld) {
			t.Errorf("%s: claimed by another: %v", name, err)
		}
	}
	if err := c.giveBackRest(ctx); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("given back on a full disk: %v", err)
	}
	disk.full = false
	fatal.If(t, c.giveBackRest(ctx))
	fatal.If(t, c.giveBackRest(ctx))
	for _, name := range []string{closedStore, unmade, unwanted} {
		if _, ok := c.holds(name); ok {
			t.Errorf("%s is still held", name)
		}
		got, err := other.Claim(ctx, name)
		fatal.If(t, err)
		if _, err := claim.TakeOver(vfs.Default, root, name, got.Epoch); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	names, err := os.ReadDir(filepath.Join(root, unwanted))
	if err != nil || len(names) != 1 || strings.HasSuffix(names[0].Name(), "1") {
		t.Errorf("%s: %v, %v", unwanted, names, err)
	}
}

// A store that could not be marked as closed is marked by the next try, after any error: a folder with a missing part
// is not a missing folder.
func TestGiveBackIsTriedAgain(t *testing.T) {
	ctx := t.Context()
	root := t.TempDir()
	coordinator, err := claim.NewFile(root, claim.Options{})
	fatal.If(t, err)
	session, err := coordinator.Join(ctx, claim.Member{Node: "a"})
	fatal.If(t, err)
	failures := 1
	fs := errorfs.Wrap(vfs.Default, errorfs.InjectorFunc(func(op errorfs.Op) error {
		if op.Kind == errorfs.OpRename && strings.Contains(op.Path, "e1.closed") && failures > 0 {
			failures--
			return os.ErrNotExist
		}
		return nil
	}))
	c := &ownership{session: session, fs: engine.NewRecorder(fs), root: root, grace: time.Hour,
		held: make(map[string]held)}
	const name = "sacks/000"
	if _, err := c.claim(ctx, name); err != nil {
		t.Fatal(err)
	}
	if err := c.giveBack(ctx, name); !errors.Is(err, os.ErrNotExist) || errors.Is(err, claim.ErrNotClosed) {
		t.Errorf("given back without a mark: %v", err)
	}
	if err := errors.Join(c.giveBackRest(ctx), session.Leave(ctx)); err != nil {
		t.Error(err)
	}
}
