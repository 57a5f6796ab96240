package cluster

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/gnocco-db/gnocco/cluster/datafolder"
	"github.com/gnocco-db/gnocco/cluster/peer"
	"github.com/gnocco-db/gnocco/storage/claim"
	"github.com/gnocco-db/gnocco/storage/engine"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

// claimsSession answers with claims that a test sets.
type claimsSession struct {
	knownMembers
	holders map[string]claim.Holder
	errs    map[string]error
	looks   int // at the second sack
}

func (s *claimsSession) Holder(_ context.Context, name string) (claim.Holder, error) {
	if name == datafolder.SackName(1) {
		s.looks++
	}
	return s.holders[name], s.errs[name]
}

// sackOf returns a reconciler of a member, of six sacks that two members hold.
func sackOf(own string) (*claimsSession, *sackReconciler) {
	member := func(id string) claim.Member {
		return claim.Member{ID: id + ".1", Node: id, Weight: 1, Roles: []string{string(RoleMetricd)}}
	}
	s := &claimsSession{holders: make(map[string]claim.Holder), errs: make(map[string]error)}
	s.members = []claim.Member{member("a"), member("b")}
	for i := range 6 {
		s.holders[datafolder.SackName(i)] = claim.Holder{Member: s.members[i%2], Epoch: 1}
	}
	i := slices.IndexFunc(s.members, func(m claim.Member) bool { return m.Node == own })
	s.members[0], s.members[i] = s.members[i], s.members[0]
	logger := slog.New(slog.DiscardHandler)
	owned := &ownership{session: s, fs: engine.NewRecorder(vfs.NewMem()), held: make(map[string]held)}
	members, damaged := newMembership(s, nil, logger), newDamagedStores(logger)
	return s, &sackReconciler{sacks: 6, logger: logger, members: members,
		environment: &environment{ownership: owned, damaged: damaged, holders: newHolders(members, damaged),
			logger: logger}}
}

// ids returns the owners' IDs.
func ids(owners []*claim.Member) (names []string) {
	for _, m := range owners {
		names = append(names, m.ID)
	}
	return names
}

// A claim that cannot be read is an error, and its sack stays the share of the member that was seen to hold it.
func TestOwnersOfAnUnreadableClaim(t *testing.T) {
	s, r := sackOf("a")
	before, err := r.owners(t.Context(), s.members)
	fatal.If(t, err)
	r.lookAnew()
	unreadable := errors.New("input/output error")
	name := datafolder.SackName(3)
	s.holders[name], s.errs[name] = claim.Holder{}, unreadable
	after, err := r.owners(t.Context(), s.members)
	if !errors.Is(err, unreadable) || !slices.Equal(ids(after), ids(before)) {
		t.Errorf("%v, %v before; %v", ids(after), ids(before), err)
	}
	if !r.known.looked[3].IsZero() {
		t.Error("the claim is not looked at again")
	}
}

// A process that is started again under its name gets the sacks that it had, and all members see it so, also those that
// take the earlier process for alive.
func TestOwnersAfterARestart(t *testing.T) {
	for _, known := range []bool{true, false} {
		s, r := sackOf("a")
		for name, h := range s.holders {
			if h.Member.Node == "b" {
				h.Dead = known
				s.holders[name] = h
			}
		}
		for i := range s.members {
			if s.members[i].Node == "b" {
				s.members[i].ID = "b.2"
			}
		}
		owners, err := r.owners(t.Context(), s.members)
		if want := []string{"a.1", "b.2", "a.1", "b.2", "a.1", "b.2"}; err != nil || !slices.Equal(ids(owners), want) {
			t.Errorf("known %t: %v %v", known, ids(owners), err)
		}
		if unheld, _ := r.moving(owners); known && len(unheld) != 3 {
			t.Errorf("%v are not held, of three", unheld)
		}
	}
}

// A process that is started again sees the same share for itself as others, who know of its predecessor's death, also
// while it takes the predecessor for alive. The order of their IDs does not matter.
func TestSharesBesideAPredecessor(t *testing.T) {
	for _, predecessor := range []string{"c.0", "c.2"} {
		for held := range 6 { // by a, the rest by b
			s, others := sackOf("a")
			for i := range 6 {
				s.holders[datafolder.SackName(i)] = claim.Holder{Member: s.members[min(1, i/(held+1))], Epoch: 1}
			}
			own := claim.Member{ID: "c.1", Node: "c", Roles: []string{string(RoleMetricd)}}
			known := append(slices.Clone(s.members), own)
			want, err := others.owners(t.Context(), known)
			fatal.If(t, err)
			s, r := sackOf("a")
			earlier := own
			earlier.ID = predecessor
			s.members = slices.Concat([]claim.Member{own, earlier}, s.members)
			s.holders = others.environment.ownership.session.(*claimsSession).holders
			members, err := r.members.staying(t.Context())
			fatal.If(t, err)
			got, err := r.owners(t.Context(), members)
			if err != nil || !slices.Equal(ids(got), ids(want)) {
				t.Errorf("beside %s: %v %v, others see %v", predecessor, ids(got), err, ids(want))
			}
		}
	}
}

// News from a sack's giver is newer than a listing, so members look at the claim until it shows the change.
func TestNewsIsNewerThanAListing(t *testing.T) {
	name := datafolder.SackName(1)
	for kind, tell := range map[string]func(*sackReconciler){
		"given": func(r *sackReconciler) { r.learn(1, "") }, "claims changed": (*sackReconciler).lookAnew,
	} {
		synctest.Test(t, func(t *testing.T) {
			s, r := sackOf("a")
			r.members.client = peer.NewClient("key", nil, peer.TCP) // nobody answers
			defer r.members.client.Close()
			unheld := func() bool {
				t.Helper()
				time.Sleep(reconcileInterval)
				owners, err := r.owners(t.Context(), s.members)
				fatal.If(t, err)
				sacks, _ := r.moving(owners)
				return slices.Contains(sacks, 1)
			}
			if unheld() {
				t.Errorf("%s: nobody holds it", kind)
			}
			tell(r)
			if unheld() { // as listed before
				t.Errorf("%s: the claim is not looked at", kind)
			}
			h := s.holders[name]
			h.Released = true
			s.holders[name] = h
			if !unheld() {
				t.Errorf("%s: an old listing is believed", kind)
			}
			h.Member, h.Epoch, h.Released = s.members[1], 2, false
			s.holders[name] = h
			r.learn(1, h.Member.ID)
			looks := s.looks
			if unheld() || s.looks != looks {
				t.Errorf("%s: a taken sack is looked at", kind)
			}
		})
	}
}

// Two sacks move at a time, and those that nobody holds are the first.
func TestFewSacksMove(t *testing.T) {
	s, r := sackOf("a")
	c := claim.Member{ID: "c.1", Node: "c", Weight: 10, Roles: []string{string(RoleMetricd)}}
	members := append(slices.Clone(s.members), c)
	moving := func() []int {
		t.Helper()
		owners, err := r.owners(t.Context(), members)
		fatal.If(t, err)
		_, sacks := r.moving(owners)
		return sacks
	}
	first := moving()
	if len(first) != sacksMoved {
		t.Fatalf("%v move", first)
	}
	for _, sack := range []int{4, 5} { // they were given back
		h := s.holders[datafolder.SackName(sack)]
		h.Released = true
		s.holders[datafolder.SackName(sack)] = h
	}
	r.lookAnew() // a notice of another process
	if got := moving(); !slices.Equal(got, []int{4, 5}) {
		t.Errorf("%v move while nobody holds 4 and 5", got)
	}
}
