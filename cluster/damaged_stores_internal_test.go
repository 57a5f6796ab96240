package cluster

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/gnocco-db/gnocco/cluster/datafolder"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/storage"
	"github.com/gnocco-db/gnocco/storage/claim"
	"github.com/gnocco-db/gnocco/storage/engine"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

// lockedSession is a session of one member, whose claims end with an error.
type lockedSession struct {
	knownMembers
	holder claim.Holder
	err    error
	tries  []time.Time
}

func (s *lockedSession) Holder(context.Context, string) (claim.Holder, error) { return s.holder, nil }

func (s *lockedSession) Claim(context.Context, string) (claim.Claim, error) {
	s.tries = append(s.tries, time.Now())
	return claim.Claim{}, s.err
}

// newLocked returns a reconciler of one sack, whose store is locked.
func newLocked() (*lockedSession, *sackReconciler, *bytes.Buffer) {
	return newGivenBack(fmt.Errorf("lock: %w", claim.ErrLocked))
}

// newGivenBack returns a reconciler of one sack, whose claims end with an error.
func newGivenBack(err error) (*lockedSession, *sackReconciler, *bytes.Buffer) {
	log := new(bytes.Buffer)
	logger := slog.New(slog.NewTextHandler(log, nil))
	s := &lockedSession{err: err}
	s.members = []claim.Member{{ID: "own", Weight: 1, Roles: []string{string(RoleMetricd)}}}
	owned := &ownership{session: s, fs: engine.NewRecorder(vfs.NewMem()), held: make(map[string]held)}
	members, damaged := newMembership(s, nil, logger), newDamagedStores(logger)
	return s, &sackReconciler{sacks: 1, logger: logger, members: members,
		environment: &environment{ownership: owned, damaged: damaged, holders: newHolders(members, damaged),
			logger: logger}}, log
}

// A store that stays locked is tried after a second, two, four and so on, and once a minute in the end: each try costs
// a claim. It is warned of once a minute. A store that was opened, or that another process has, is tried at once when
// it is locked again.
func TestLockedStoreIsTriedLessOften(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const hours = 3
		s, r, log := newLocked()
		reconcile := func(seconds int) {
			for range 4 * seconds {
				fatal.If(t, r.reconcile(t.Context(), s.members))
				time.Sleep(reconcileInterval / 4) // it is woken more often than it ticks
			}
		}
		began := time.Now()
		reconcile(hours * 3600)
		var after []float64
		for _, at := range s.tries[:8] {
			after = append(after, at.Sub(began).Seconds())
		}
		if want := []float64{0, 1, 3, 7, 15, 31, 63, 123}; !slices.Equal(after, want) {
			t.Errorf("tried after %v s, want %v", after, want)
		}
		if n := len(s.tries); n != 60*hours+5 {
			t.Errorf("%d tries in %d hours", n, hours)
		}
		if n := strings.Count(log.String(), "level=WARN"); n > 60*hours || n < 60*hours-5 {
			t.Errorf("%d warnings in %d hours", n, hours)
		}
		if !strings.Contains(log.String(), "store=sacks/000 for=1h0m3s ") ||
			strings.Contains(log.String(), "level=ERROR") {
			t.Error(log.String()[:1000])
		}
		err := r.environment.damaged.of("sacks/000")
		if damaged := new(model.DamagedError); !errors.As(err, &damaged) || damaged.Fault != model.StoreLocked {
			t.Errorf("a request for it: %v", err)
		}

		forgotten := func(forget func()) {
			t.Helper()
			forget()
			if err := r.environment.damaged.of("sacks/000"); err != nil {
				t.Errorf("not forgotten: %v", err)
			}
			before := len(s.tries)
			reconcile(4)
			if got := len(s.tries) - before; got != 3 {
				t.Errorf("%d tries in the first seconds, want 3", got)
			}
		}
		forgotten(func() { r.environment.damaged.isWell("sacks/000") })
		forgotten(func() {
			s.holder = claim.Holder{Epoch: 1}
			time.Sleep(lastBackPause)
			reconcile(1)
			s.holder = claim.Holder{}
		})
	})
}

// A store that lacks what any store needs is tried as seldom as a locked one, for any files in the error. It is
// forgotten like a locked one.
func TestStoreWithoutRoomIsTriedLessOften(t *testing.T) {
	for cause, words := range map[error]string{
		syscall.ENOSPC: "no space left on device", syscall.EACCES: "permission denied", syscall.EMFILE: "too many open files",
	} {
		synctest.Test(t, func(t *testing.T) {
			s, r, log := newGivenBack(nil)
			const hours = 2
			for range hours * 3600 {
				s.err = &os.PathError{Op: "open", Path: fmt.Sprint("e", len(s.tries)), Err: cause}
				fatal.If(t, r.reconcile(t.Context(), s.members))
				time.Sleep(time.Second)
			}
			if n := len(s.tries); n > 60*hours+6 || n < 60*hours {
				t.Errorf("%v: %d tries in %d hours", cause, n, hours)
			}
			if n := strings.Count(log.String(), "level=WARN"); n > 60*hours || n < 60*hours-5 ||
				strings.Contains(log.String(), "level=ERROR") {
				t.Errorf("%v: %d warnings in %d hours: %.1000s", cause, n, hours, log)
			}
			damaged := new(model.DamagedError)
			if err := r.environment.damaged.of("sacks/000"); !errors.As(err, &damaged) ||
				damaged.Fault != model.StoreUnopened || damaged.Reason != words {
				t.Errorf("%v: a request for it: %v", cause, err)
			}
			if r.environment.damaged.forgetGivenBack("sacks/000"); r.environment.damaged.of("sacks/000") != nil {
				t.Errorf("%v: another's share is not forgotten", cause)
			}
		})
	}
}

// A process forgets that the index was locked when another one holds it, and an incoming store when it is another's
// share: else it would refuse requests that the other answers.
func TestLockedStoreIsForgotten(t *testing.T) {
	s, sacks, _ := newLocked()
	s.holder = claim.Holder{Epoch: 1}
	e := sacks.environment
	const store = datafolder.IncomingPrefix + "x"
	root := t.TempDir()
	fatal.If(t, os.MkdirAll(filepath.Join(root, store), 0o700))
	own := &incomingStores{environment: e, members: sacks.members, folder: &datafolder.Folder{Path: root}}
	synctest.Test(t, func(t *testing.T) {
		for _, name := range []string{datafolder.IndexName, store} {
			_ = e.damaged.note(name, s.err)
		}
		if err := own.lost(); !model.IsDamaged(err) {
			t.Errorf("a refresh: %v", err)
		}
		time.Sleep(firstPause)
		index := &indexReconciler{environment: e, members: sacks.members, shared: new(SharedIndex)}
		if err := index.reconcile(t.Context()); err != nil || e.damaged.of(datafolder.IndexName) != nil {
			t.Errorf("the index: %v, %v", err, e.damaged.of(datafolder.IndexName))
		}
		if err := own.reconcile(t.Context(), []claim.Member{{ID: "other", Weight: 1}}); err != nil || own.lost() != nil {
			t.Errorf("another's share: %v, %v", err, own.lost())
		}
		_ = e.damaged.note(store, s.err)
		time.Sleep(firstPause)
		if err := own.reconcile(t.Context(), s.members); err != nil || own.lost() != nil {
			t.Errorf("held by another: %v, %v", err, own.lost())
		}
		_ = e.damaged.note(store, s.err) // and not tried again yet
		if err := own.reconcile(t.Context(), []claim.Member{{ID: "other", Weight: 1}}); err != nil || own.lost() != nil {
			t.Errorf("another's share, at once: %v, %v", err, own.lost())
		}
		_ = e.damaged.note(store, s.err)
		err := errors.Join(os.RemoveAll(filepath.Join(root, store)), own.reconcile(t.Context(), s.members))
		if err != nil || own.lost() != nil {
			t.Errorf("removed by another: %v, %v", err, own.lost())
		}
	})
}

// Each fault of a store has its own words, and only what is known to be damage is called so.
func TestFaultsOfStores(t *testing.T) {
	f := func(err error, fault model.StoreFault, damage bool, words string) {
		t.Helper()
		var log bytes.Buffer
		d := newDamagedStores(slog.New(slog.NewTextHandler(&log, nil)))
		if got := isDamage(err); got != damage {
			t.Errorf("%v is damage: %v, want %v", err, got, damage)
		}
		noted := new(model.DamagedError)
		if !errors.As(d.note("index", fmt.Errorf("open: %w", err)), &noted) || noted.Fault != fault {
			t.Errorf("%v is %q, want %q", err, noted.Fault, fault)
		}
		if !strings.HasPrefix(noted.Error(), "index "+words+": open: ") {
			t.Errorf("error %q, want %q", noted, words)
		}
		if !strings.Contains(log.String(), "store "+words+"; the rest is served") {
			t.Errorf("log %q, want %q", &log, words)
		}
		again := new(model.DamagedError) // as it comes from another process
		if !errors.As(d.note("index", noted), &again) || *again != *noted {
			t.Errorf("noted again: %v, want %v", again, noted)
		}
	}
	f(claim.ErrLocked, model.StoreLocked, false, "is locked by a program that has it open")
	f(claim.ErrMissing, model.StoreMissing, true, "is missing")
	f(storage.ErrLaterFormat, model.StoreLater, true, "was written by a later version of gnocco")
	f(storage.ErrCorrupt, model.StoreDamaged, true, "is damaged")
	f(pebble.ErrCorruption, model.StoreDamaged, true, "is damaged")
	f(claim.ErrUnstable, model.StoreDamaged, true, "is damaged")
	f(syscall.EIO, model.StoreUnopened, true, "could not be opened")
}

// The first damaged part of a store that is served stands for all of them, until the store is well again.
func TestFirstDamagedPart(t *testing.T) {
	var log bytes.Buffer
	d := newDamagedStores(slog.New(slog.NewTextHandler(&log, nil)))
	for _, table := range []string{"000012.sst", "000034.sst"} {
		_ = d.notePart("sacks/000", fmt.Errorf("%s: %w", table, storage.ErrCorrupt))
	}
	if n := strings.Count(log.String(), "level=ERROR"); n != 1 || !strings.Contains(log.String(), "000012.sst") {
		t.Errorf("%d errors logged, want one of the first table: %s", n, &log)
	}
	if known := d.stores["sacks/000"]; !strings.Contains(known.Reason, "000012.sst") || !known.Served {
		t.Errorf("known as %+v", known.DamagedStore)
	}
}
