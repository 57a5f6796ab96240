package claim_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/gnocco-db/gnocco/storage/claim"
)

// spread returns how many names each node gets, and who gets each.
func spread(t *testing.T, members []claim.Member, names []string) (map[string]int, []string) {
	t.Helper()
	count, nodes := make(map[string]int), make([]string, len(names))
	for i, owner := range claim.BalancedRendezvous(members, names) {
		if owner == nil {
			t.Fatalf("%d members: nobody gets %s", len(members), names[i])
		}
		nodes[i] = owner.Node
		count[owner.Node]++
	}
	return count, nodes
}

func TestBalancedRendezvous(t *testing.T) {
	if owners := claim.BalancedRendezvous(nil, []string{"a", "b"}); len(owners) != 2 || owners[0] != nil {
		t.Errorf("of nobody: %v", owners)
	}
	moved, byRendezvous, comings := 0, 0, 0
	for _, sacks := range []int{1, 7, 16, 32, 100} {
		var names []string
		for i := range sacks {
			names = append(names, fmt.Sprintf("sacks/%03d", i))
		}
		for seed := range 20 {
			var members []claim.Member
			var before []string
			for n := 1; n <= 9; n++ {
				members = append(members, claim.Member{ID: fmt.Sprint(n), Node: fmt.Sprintf("%d-%d", seed, n)})
				count, owners := spread(t, members, names)
				for _, m := range members {
					if c := count[m.Node]; c < sacks/n || c > (sacks+n-1)/n {
						t.Fatalf("%d sacks, %d members: %s has %d", sacks, n, m.Node, c)
					}
				}
				shuffled := slices.Clone(members)
				slices.Reverse(shuffled)
				if _, again := spread(t, shuffled, names); !slices.Equal(owners, again) {
					t.Fatal("who gets what depends on the order of members")
				}
				for i := range before {
					if before[i] != owners[i] {
						moved++
					}
					if claim.Rendezvous(members, names[i]).ID == fmt.Sprint(n) {
						byRendezvous++
					}
				}
				before = owners
				comings++
			}
		}
	}
	t.Logf("%d comings moved %d names, Rendezvous %d", comings, moved, byRendezvous)
	if moved > 2*byRendezvous {
		t.Errorf("%d comings moved %d names, Rendezvous %d", comings, moved, byRendezvous)
	}
}

func TestBalancedRendezvousByWeight(t *testing.T) {
	var names []string
	for i := range 64 {
		names = append(names, fmt.Sprintf("sacks/%03d", i))
	}
	members := []claim.Member{{Node: "a", ID: "a"}, {Node: "b", ID: "b", Weight: 2}, {Node: "c", ID: "c", Weight: 0.5},
		{Node: "d", ID: "d", Weight: 0.001}}
	count, _ := spread(t, members, names)
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
