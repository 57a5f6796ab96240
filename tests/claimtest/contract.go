package claimtest

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/gnocco-db/gnocco/storage/claim"
)

// Join makes a member of a data folder, until the test ends.
func Join(t *testing.T, c claim.Coordinator, node string) claim.Session {
	t.Helper()
	s, err := c.Join(t.Context(), claim.Member{Node: node})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Leave(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return s
}

// Run tests a coordinator. Each call of open returns one of the same new, empty data folder root.
func Run(t *testing.T, root string, open func() claim.Coordinator) {
	t.Run("claims", func(t *testing.T) { claims(t, open) })
	t.Run("race", func(t *testing.T) { race(t, open) })
	t.Run("stores", func(t *testing.T) { stores(t, root, open) })
	t.Run("members", func(t *testing.T) { members(t, open) })
}

func claims(t *testing.T, open func() claim.Coordinator) {
	ctx := t.Context()
	a, b := Join(t, open(), "a"), Join(t, open(), "b")
	if holder, err := a.Holder(ctx, "sacks/007"); err != nil || holder.Epoch != 0 || holder.Live() {
		t.Errorf("before there is one: %+v, %v", holder, err)
	}
	first, err := a.Claim(ctx, "sacks/007")
	if err != nil || first.Epoch == 0 {
		t.Fatalf("first claim: %+v, %v", first, err)
	}
	for _, s := range []claim.Session{a, b} {
		var held *claim.HeldError
		if _, err := s.Claim(ctx, "sacks/007"); !errors.As(err, &held) || !errors.Is(err, claim.ErrHeld) {
			t.Fatalf("claim of what is held: %v", err)
		}
		if held.Holder.Member.ID != a.Member().ID || held.Holder.Epoch != first.Epoch {
			t.Errorf("holder %+v", held.Holder)
		}
	}
	if err := b.Release(ctx, first); !errors.Is(err, claim.ErrNotHeld) {
		t.Errorf("release of another's claim: %v", err)
	}
	if err := a.Release(ctx, first); err != nil {
		t.Fatal(err)
	}
	holder, err := b.Holder(ctx, "sacks/007")
	if err != nil || !holder.Released || holder.Epoch != first.Epoch || holder.Live() {
		t.Errorf("after release: %+v, %v", holder, err)
	}
	second, err := b.Claim(ctx, "sacks/007")
	if err != nil || second.Epoch <= first.Epoch {
		t.Fatalf("second claim: %+v, %v", second, err)
	}
	// A member that leaves gives back its claims.
	if err := b.Leave(ctx); err != nil {
		t.Fatal(err)
	}
	if b.Valid() || !errors.Is(b.Err(), claim.ErrLost) {
		t.Errorf("lease after leaving: %v", b.Err())
	}
	if third, err := a.Claim(ctx, "sacks/007"); err != nil || third.Epoch <= second.Epoch {
		t.Errorf("third claim: %+v, %v", third, err)
	}
	for _, name := range []string{"", "..", "sacks/../../x", "/index", "a b"} {
		if _, err := a.Claim(ctx, name); err == nil {
			t.Errorf("claimed %q", name)
		}
	}
}

// race has several reach for a name again and again: one gets it, above all before.
func race(t *testing.T, open func() claim.Coordinator) {
	const races, racers = 200, 4
	var sessions []claim.Session
	for i := range racers {
		sessions = append(sessions, Join(t, open(), fmt.Sprint("racer", i)))
	}
	highest := make(map[string]uint64)
	for round := range races {
		name := fmt.Sprint("sacks/", round%3)
		var winners atomic.Int32
		var won atomic.Pointer[claim.Claim]
		var winner atomic.Pointer[claim.Session]
		var group sync.WaitGroup
		for _, s := range sessions {
			group.Go(func() {
				c, err := s.Claim(t.Context(), name)
				if err == nil {
					winners.Add(1)
					won.Store(&c)
					winner.Store(&s)
				} else if !errors.Is(err, claim.ErrHeld) {
					t.Error(err)
				}
			})
		}
		group.Wait()
		if winners.Load() != 1 {
			t.Fatalf("round %d: %d winners", round, winners.Load())
		}
		c := *won.Load()
		if c.Epoch <= highest[name] {
			t.Fatalf("round %d: epoch %d after %d", round, c.Epoch, highest[name])
		}
		highest[name] = c.Epoch
		if err := (*winner.Load()).Release(t.Context(), c); err != nil {
			t.Fatal(err)
		}
	}
}

// stores hands a store over, in order and not.
func stores(t *testing.T, root string, open func() claim.Coordinator) {
	ctx := t.Context()
	a, b := Join(t, open(), "a"), Join(t, open(), "b")
	const name = "incoming/x"
	dir := filepath.Join(root, name)
	// There may be a store already, to which no claim leads.
	if err := vfs.Default.MkdirAll(filepath.Join(dir, "e1000"), 0o750); err != nil {
		t.Fatal(err)
	}
	c, err := a.Claim(ctx, name)
	if err == nil && c.Epoch <= 1000 {
		t.Fatalf("epoch %d below that of the store", c.Epoch)
	}
	if err != nil { // a coordinator that counts in its own way may refuse it
		t.Logf("claim of a store from elsewhere: %v", err)
		if err := vfs.Default.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
		if c, err = a.Claim(ctx, name); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := claim.TakeOver(claim.Fence(vfs.Default, a), root, name, c.Epoch); err != nil {
		t.Fatal(err)
	}
	if err := a.Release(ctx, c); !errors.Is(err, claim.ErrNotClosed) {
		t.Fatalf("release of a store that is open: %v", err)
	}
	if _, err := b.Claim(ctx, name); !errors.Is(err, claim.ErrHeld) {
		t.Fatalf("claim of it: %v", err)
	}
	if err := errors.Join(claim.MarkClosed(vfs.Default, dir, c.Epoch), a.Release(ctx, c)); err != nil {
		t.Fatal(err)
	}
	next, err := b.Claim(ctx, name)
	if err != nil || next.Epoch <= c.Epoch {
		t.Fatalf("%+v, %v", next, err)
	}
	if _, err := claim.TakeOver(claim.Fence(vfs.Default, b), root, name, next.Epoch); err != nil {
		t.Fatal(err)
	}
	if err := claim.MarkClosed(vfs.Default, dir, next.Epoch); err != nil {
		t.Fatal(err)
	}
}

// members come and go, and others are told.
func members(t *testing.T, open func() claim.Coordinator) {
	ctx := t.Context()
	a := Join(t, open(), "a")
	changed := a.Watch(ctx)
	b := Join(t, open(), "b")
	count := func(want int) {
		t.Helper()
		for {
			<-changed
			live, err := a.Members(ctx)
			if err != nil {
				t.Fatal(err)
			}
			if len(live) == want {
				return
			}
		}
	}
	count(2)
	if err := b.Leave(ctx); err != nil {
		t.Fatal(err)
	}
	count(1)
}
