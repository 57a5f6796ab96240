package claim_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gnocco-db/gnocco/storage/claim"
)

func sackNames(n int) (names []string) {
	for i := range n {
		names = append(names, fmt.Sprintf("sacks/%03d", i))
	}
	return names
}

// ids returns who gets each name, and how many names each member gets.
func ids(t *testing.T, owners []*claim.Member) (holders []string, count map[string]int) {
	t.Helper()
	holders, count = make([]string, len(owners)), make(map[string]int)
	for i, owner := range owners {
		if owner == nil {
			t.Fatalf("nobody gets name %d", i)
		}
		holders[i] = owner.ID
		count[owner.ID]++
	}
	return holders, count
}

// Members come and go: the shares differ by one at most, no more names move than the share of the one that came or
// went, and the answer does not depend on the order of the members, or on how much of it is carried out.
func TestStickyRendezvous(t *testing.T) {
	if owners := claim.StickyRendezvous(nil, sackNames(2), make([]string, 2)); len(owners) != 2 || owners[0] != nil {
		t.Errorf("of nobody: %v", owners)
	}
	random := rand.New(rand.NewPCG(8, 64))
	changes, moves := 0, 0
	for _, sacks := range []int{1, 7, 16, 64, 100} {
		names := sackNames(sacks)
		for seed := range 20 {
			var members []claim.Member
			holders := make([]string, sacks)
			for step := range 40 {
				came := len(members) < 2 || len(members) < 12 && random.IntN(2) == 0
				if came {
					id := fmt.Sprintf("%d-%d", seed, step)
					members = append(members, claim.Member{ID: id, Node: id})
				} else {
					i := random.IntN(len(members))
					members = slices.Delete(members, i, i+1)
				}
				owners, count := ids(t, claim.StickyRendezvous(members, names, holders))
				n := len(members)
				for _, m := range members {
					if c := count[m.ID]; c < sacks/n || c > (sacks+n-1)/n {
						t.Fatalf("%d sacks, %d members: %s has %d", sacks, n, m.ID, c)
					}
				}
				random.Shuffle(n, func(i, j int) { members[i], members[j] = members[j], members[i] })
				partly := slices.Clone(holders) // some are given back, and some of these taken
				moved := 0
				for i := range names {
					if holders[i] == owners[i] {
						continue
					}
					moved++
					switch random.IntN(3) {
					case 0:
						partly[i] = ""
					case 1:
						partly[i] = owners[i]
					}
				}
				if again, _ := ids(t, claim.StickyRendezvous(members, names, partly)); !slices.Equal(owners, again) {
					t.Fatalf("%d sacks, %d members: another answer when a part of it is carried out", sacks, n)
				}
				most := (sacks+n-1)/n + 1 // of the share of the one that came
				if !came {
					most = (sacks + n) / (n + 1) // of the one that went, rounded up
				}
				if step > 0 && moved > most {
					t.Errorf("%d sacks, %d members, one came %v: %d moved, more than %d", sacks, n, came, moved, most)
				}
				if step > 0 {
					changes, moves = changes+1, moves+moved
				}
				holders = owners
			}
		}
	}
	t.Logf("%d changes moved %d names", changes, moves)
}

// A member that comes back under its name gets most of its names back.
func TestStickyRendezvousByName(t *testing.T) {
	names := sackNames(64)
	var members []claim.Member
	for i := range 8 {
		members = append(members, claim.Member{ID: fmt.Sprintf("%d.a", i), Node: fmt.Sprint(i)})
	}
	before, _ := ids(t, claim.StickyRendezvous(members, names, make([]string, 64)))
	meanwhile, _ := ids(t, claim.StickyRendezvous(members[1:], names, before))
	members[0].ID = "0.b"
	after, _ := ids(t, claim.StickyRendezvous(members, names, meanwhile))
	same := 0
	for i := range names {
		if before[i] == "0.a" && after[i] == "0.b" {
			same++
		}
	}
	if same < 5 {
		t.Errorf("%d sacks of 8 are back", same)
	}
}

func TestStickyRendezvousByWeight(t *testing.T) {
	members := []claim.Member{{Node: "a", ID: "a"}, {Node: "b", ID: "b", Weight: 2}, {Node: "c", ID: "c", Weight: 0.5},
		{Node: "d", ID: "d", Weight: 0.001}}
	for _, holder := range []string{"", "a", "d", "gone"} {
		_, count := ids(t, claim.StickyRendezvous(members, sackNames(64), slices.Repeat([]string{holder}, 64)))
		total := 3.501
		for _, m := range members {
			weight := m.Weight
			if weight == 0 {
				weight = 1
			}
			if share := 64 * weight / total; math.Abs(float64(count[m.Node])-share) > 1 {
				t.Errorf("%s has %d, its share is %.1f", m.Node, count[m.Node], share)
			}
		}
	}
}
