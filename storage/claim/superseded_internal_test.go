package claim

import (
	"errors"
	"fmt"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/gnocco-db/gnocco/tests/fatal"
)

// enterAlone makes a member without loops, on a disk in memory.
func enterAlone(t *testing.T, fs vfs.FS, node string) *session {
	t.Helper()
	options := Options{FS: fs, Clock: new(setClock)}
	options.EnsureDefaults()
	s, err := (&File{root: "data", options: options, inOrder: true}).enter(Member{Node: node})
	fatal.If(t, err)
	return s
}

// A member that finds a higher claim on what it holds ends, and its renewal does not count.
func TestSupersededMemberEnds(t *testing.T) {
	for _, name := range []string{"index", "incoming/a", "sacks/007"} {
		fs := vfs.NewMem()
		a, b := enterAlone(t, fs, "a"), enterAlone(t, fs, "b")
		c, err := a.claim(name)
		fatal.If(t, err)
		fatal.If(t, a.beat())
		before := a.Pulse().Beat
		if _, err := b.linkClaim(name, c.Epoch+1, &b.member); err != nil { // b took a for dead
			t.Fatal(err)
		}
		look := a.beat
		if name == "sacks/007" {
			look = func() error { return a.checkHeld(true) }
		}
		if err := look(); !errors.Is(err, ErrLost) || !errors.Is(a.Err(), errHeldByOther) {
			t.Errorf("%s: a look says %v, the lease %v", name, err, a.Err())
		}
		if a.Pulse().Beat != before {
			t.Errorf("%s: others see a heartbeat that did not count", name)
		}
	}
}

// Another member may claim a store that its holder is about to give back.
func TestReleasedClaimIsNotSuperseded(t *testing.T) {
	fs := vfs.NewMem()
	a, b := enterAlone(t, fs, "a"), enterAlone(t, fs, "b")
	c, err := a.claim("index")
	fatal.If(t, err)
	// The claim that a beat had in hand while it was given back.
	fatal.If(t, a.release(c))
	if _, err := b.claim("index"); err != nil {
		t.Fatal(err)
	}
	if err := a.checkClaim(c); err != nil || a.Err() != nil {
		t.Errorf("after release: %v, %v", err, a.Err())
	}
	// Given back, and not yet forgotten.
	a.held["index"] = holding{epoch: c.Epoch, releasing: true}
	if err := errors.Join(a.checkClaim(c), a.beat(), a.checkHeld(true)); err != nil || a.Err() != nil {
		t.Errorf("during release: %v, %v", err, a.Err())
	}
}

// A look at the claims on sacks that fails, or hangs, holds up no renewal.
func TestUnseenSacks(t *testing.T) {
	fs := &listFails{FS: vfs.NewMem(), failing: "data/claims/sacks/007"}
	a := enterAlone(t, fs, "a")
	if _, err := a.claim("sacks/007"); err != nil {
		t.Fatal(err)
	}
	fs.on = true
	if err := a.beat(); err != nil {
		t.Error(err)
	}
	if err := a.checkHeld(true); !errors.Is(err, errListFails) {
		t.Error(err)
	}
}

// A beat's look at the claims must not be done without.
func TestUnseenClaimsRenewNothing(t *testing.T) {
	fs := &listFails{FS: vfs.NewMem(), failing: "data/claims/index"}
	a := enterAlone(t, fs, "a")
	if _, err := a.claim("index"); err != nil {
		t.Fatal(err)
	}
	before := a.at.Load()
	a.options.Clock.(*setClock).now = a.options.Beat
	fs.on = true
	if err := a.beat(); !errors.Is(err, errListFails) || a.at.Load() != before {
		t.Errorf("%v, deadline %d, was %d", err, a.at.Load(), before)
	}
	fs.on = false
	if err := a.beat(); err != nil || a.at.Load() == before {
		t.Error(err)
	}
}

var errListFails = errors.New("list fails")

// listFails is a file system on which one folder cannot be listed.
type listFails struct {
	vfs.FS
	failing string
	on      bool
}

func (l *listFails) List(dir string) ([]string, error) {
	if l.on && dir == l.failing {
		return nil, errListFails
	}
	return l.FS.List(dir)
}

// After any outcome of the last rename, the next one shows a counter that nobody has seen before.
func TestBeatIsNew(t *testing.T) {
	fs := vfs.NewMem()
	a := enterAlone(t, fs, "a")
	path := func(n uint64) string { return fmt.Sprintf("%s/beats/%d", a.heartbeat.dir, n) }
	for _, other := range []uint64{2, 5} { // renamed although it failed; and by far
		fatal.If(t, fs.Rename(path(a.Pulse().Beat), path(a.Pulse().Beat+other)))
		seen := a.Pulse().Beat + other
		if err := a.beat(); err != nil || a.Pulse().Beat <= seen {
			t.Errorf("beat %d after %d was seen: %v", a.Pulse().Beat, seen, err)
		}
	}
	fatal.If(t, fs.RemoveAll(a.heartbeat.dir))
	if err := a.beat(); err == nil || !errors.Is(a.Err(), errRemoved) {
		t.Errorf("without its folder: %v, %v", err, a.Err())
	}
}
