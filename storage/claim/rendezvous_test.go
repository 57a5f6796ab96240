package claim_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/gnocco-db/gnocco/storage/claim"
)

const names = 20000

// shares returns how many names each node gets, and who gets each.
func shares(members []claim.Member) (map[string]int, []string) {
	count, owners := make(map[string]int), make([]string, names)
	for i := range owners {
		owners[i] = claim.Rendezvous(members, fmt.Sprintf("sacks/%05d", i)).Node
		count[owners[i]]++
	}
	return count, owners
}

func TestRendezvous(t *testing.T) {
	if claim.Rendezvous(nil, "index") != nil {
		t.Error("somebody of nobody")
	}
	members := []claim.Member{{Node: "a"}, {Node: "b"}, {Node: "c", Weight: 1}, {Node: "d", Weight: 3}}
	count, before := shares(members)
	for _, m := range members {
		want := names / 6 * max(m.Weight, 1)
		if got := float64(count[m.Node]); math.Abs(got-want) > want/10 {
			t.Errorf("%s has %v, want %v", m.Node, got, want)
		}
	}
	// When one goes, only what it had moves; when it comes back under another ID, it has the same.
	_, without := shares(members[:3])
	for i, owner := range before {
		if owner != "d" && owner != without[i] {
			t.Fatalf("name %d moves from %s to %s", i, owner, without[i])
		}
	}
	_, again := shares([]claim.Member{{Node: "d", ID: "d.2", Weight: 3}, members[2], members[0], members[1]})
	for i, owner := range before {
		if owner != again[i] {
			t.Fatalf("name %d moves from %s to %s", i, owner, again[i])
		}
	}
}
