package claim_test

import (
	"context"
	"errors"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"gnocco/storage/claim"
)

// join makes a member of the data folder root, until the test ends.
func join(t *testing.T, root, node string, options claim.Options) claim.Session {
	t.Helper()
	coordinator, err := claim.NewFile(root, options)
	if err != nil {
		t.Fatal(err)
	}
	s, err := coordinator.Join(t.Context(), claim.Member{Node: node})
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

func TestClaimAndRelease(t *testing.T) {
	root := t.TempDir()
	ctx := t.Context()
	a, b := join(t, root, "a", claim.Options{}), join(t, root, "b", claim.Options{})

	first, err := a.Claim(ctx, "sacks/007")
	if err != nil || first.Epoch != 1 {
		t.Fatalf("first claim: %+v, %v", first, err)
	}
	for _, s := range []claim.Session{a, b} {
		var held *claim.HeldError
		if _, err := s.Claim(ctx, "sacks/007"); !errors.As(err, &held) || !errors.Is(err, claim.ErrHeld) {
			t.Fatalf("claim of what is held: %v", err)
		}
		if held.Holder.Member.ID != a.Member().ID || held.Holder.Epoch != 1 {
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
	if err != nil || !holder.Released || holder.Epoch != 1 || holder.Live() {
		t.Errorf("after release: %+v, %v", holder, err)
	}
	second, err := b.Claim(ctx, "sacks/007")
	if err != nil || second.Epoch != 2 {
		t.Fatalf("second claim: %+v, %v", second, err)
	}
	// Who leaves gives back what it has.
	if err := b.Leave(ctx); err != nil {
		t.Fatal(err)
	}
	if b.Valid() || !errors.Is(b.Err(), claim.ErrLost) {
		t.Errorf("lease after leaving: %v", b.Err())
	}
	if third, err := a.Claim(ctx, "sacks/007"); err != nil || third.Epoch != 3 {
		t.Errorf("third claim: %+v, %v", third, err)
	}
	for _, name := range []string{"", "..", "sacks/../../x", "/index", "a b"} {
		if _, err := a.Claim(ctx, name); err == nil {
			t.Errorf("claimed %q", name)
		}
	}
}

// Of several who reach for a number, one gets it.
func TestClaimRace(t *testing.T) {
	const races, racers = 200, 4
	root := t.TempDir()
	var sessions []claim.Session
	for i := range racers {
		sessions = append(sessions, join(t, root, string(rune('a'+i)), claim.Options{}))
	}
	for race := range races {
		name := filepath.Join("sacks", string(rune('a'+race%3)))
		var winners atomic.Int32
		var won atomic.Pointer[claim.Claim]
		var winner atomic.Int32
		var group sync.WaitGroup
		for i, s := range sessions {
			group.Go(func() {
				c, err := s.Claim(t.Context(), name)
				if err == nil {
					winners.Add(1)
					won.Store(&c)
					winner.Store(int32(i))
				} else if !errors.Is(err, claim.ErrHeld) {
					t.Error(err)
				}
			})
		}
		group.Wait()
		if winners.Load() != 1 {
			t.Fatalf("race %d: %d winners", race, winners.Load())
		}
		if want := uint64(race/3 + 1); won.Load().Epoch != want {
			t.Fatalf("race %d: epoch %d, want %d", race, won.Load().Epoch, want)
		}
		if err := sessions[winner.Load()].Release(t.Context(), *won.Load()); err != nil {
			t.Fatal(err)
		}
	}
}
