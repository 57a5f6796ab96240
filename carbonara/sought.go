package carbonara

import "fmt"

// Sought is what a search is after: the groups whose aggregate of Method is a number that lies in Zone.
type Sought struct {
	Method Method
	Zone   Zone
}

// DecodeSplit is the function of this name, but leaves out vectors in which nothing sought lies, as their zones say: what it
// appends need not be sought, but nothing that is sought is missing. A vector that begins before later is kept in any case:
// there, groups of an operand replace older ones, whatever their values.
func (q *Sought) DecodeSplit(src []byte, key SplitKey, want []Column, from, to, later Timestamp, dst *Groups) error {
	s := getScratch()
	defer s.release()
	rows := dst.Len()
	lo, hi, err := s.openSplit(src, key, want, from, to, dst)
	for err == nil && lo < hi {
		vector := lo / s.groupsPerZone()
		end := min((vector+1)*s.groupsPerZone(), hi)
		zone := everything
		if key.at(s.positions[lo]) >= later {
			zone, err = s.methodZone(q.Method, vector)
		}
		if err == nil && zone.Meets(q.Zone) {
			err = s.decodeRows(key, lo, end, dst)
		}
		lo = end
	}
	if err != nil {
		dst.truncate(rows)
		return fmt.Errorf("split %v: %w", key, err)
	}
	return nil
}
