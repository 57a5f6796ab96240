package claim

import (
	"math"

	"github.com/cespare/xxhash/v2"
)

// Rendezvous returns the member that should hold name, nil if there is none. Every process that has the same members in
// mind comes to the same answer; when one comes or goes, only what it gets or had moves; and each has its share by
// weight.
func Rendezvous(members []Member, name string) *Member {
	var best *Member
	var high float64
	for i := range members {
		m := &members[i]
		s := m.score(name)
		if best == nil || s > high || s == high && m.ID < best.ID {
			best, high = m, s
		}
	}
	return best
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
