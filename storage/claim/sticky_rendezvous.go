package claim

import (
	"cmp"
	"math"
	"slices"

	"github.com/cespare/xxhash/v2"
)

// StickyRendezvous returns the member that should hold each name, in the order of names; nil for all if there are no
// members. holders has, for each name, the ID of the member that holds it, "" for none.
//
// No member gets more than its share by weight, rounded up, nor less than that rounded down. A member keeps what it
// holds within that limit. So when one of n equal members comes or goes, no more than its share moves: by rendezvous
// with a limit alone, twice that was seen to. Names without a holder among the members, and names beyond a member's
// share, go to members that have too little. Rendezvous hashing decides, the highest score first. The answer stays the
// same while it is carried out, in any order: so members that look at different times agree.
func StickyRendezvous(members []Member, names, holders []string) []*Member {
	owners := make([]*Member, len(names))
	if len(members) == 0 {
		return owners
	}
	members = slices.Clone(members)
	slices.SortFunc(members, func(a, b Member) int { return cmp.Compare(a.ID, b.ID) })
	weights := 0.0
	for i := range members {
		weights += members[i].weight()
	}
	held := make([]int, len(members)) // by the member
	holder := make([]int, len(names)) // of the name, -1: none
	for n := range names {
		holder[n] = slices.IndexFunc(members, func(m Member) bool { return holders[n] != "" && m.ID == holders[n] })
		if holder[n] >= 0 {
			held[holder[n]]++
		}
	}
	left, extra := make([]int, len(members)), len(names)
	for m := range members {
		left[m] = int(math.Floor(float64(len(names))*members[m].weight()/weights+1e-9)) - held[m]
		extra -= left[m] + held[m]
	}
	// left is what a member may get, or has to give if it is negative. Those that hold more keep one more, if there is.
	rounded := make([]bool, len(members))
	for m := range members {
		if left[m] < 0 && extra > 0 {
			left[m]++
			extra--
			rounded[m] = true
		}
	}
	type wish struct {
		name, member int
		score        float64
	}
	var wishes []wish
	for n, name := range names {
		if from := holder[n]; from >= 0 && left[from] >= 0 {
			continue
		}
		for m := range members {
			if left[m] > 0 || left[m] == 0 && extra > 0 && !rounded[m] {
				wishes = append(wishes, wish{n, m, members[m].score(name)})
			}
		}
	}
	slices.SortFunc(wishes, func(a, b wish) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.name, b.name), cmp.Compare(a.member, b.member))
	})
	for _, w := range wishes {
		from := holder[w.name]
		if owners[w.name] != nil || from >= 0 && left[from] >= 0 {
			continue
		}
		switch {
		case left[w.member] > 0:
			left[w.member]--
		case left[w.member] == 0 && extra > 0 && !rounded[w.member]:
			extra--
			rounded[w.member] = true
		default:
			continue
		}
		if from >= 0 {
			left[from]++
		}
		owners[w.name] = &members[w.member]
	}
	for n, m := range holder {
		if owners[n] == nil && m >= 0 {
			owners[n] = &members[m]
		}
	}
	return owners
}

// score is -weight / ln(h) for a hash h in (0, 1): the highest of several is each one's with a chance by weight.
func (m *Member) score(name string) float64 {
	h := xxhash.Sum64String(m.Node + "\x00" + name)
	unit := (float64(h>>11) + 0.5) / (1 << 53)
	return -m.weight() / math.Log(unit)
}

// weight is Weight, or its default.
func (m *Member) weight() float64 {
	if m.Weight == 0 {
		return 1
	}
	return m.Weight
}
