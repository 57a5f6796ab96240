package carbonara

import "fmt"

// ValueFilter matches groups whose aggregate of Method is a number in Zone.
type ValueFilter struct {
	Method Method
	Zone   Zone
}

// DecodeMatching decodes a split as [DecodeSplit] does, but skips vectors whose zone excludes every match. It may
// append groups that do not match; it never misses a match. It keeps every vector that begins before later: groups of
// an operand replace older ones there, matching or not.
func (q *ValueFilter) DecodeMatching(src []byte, key SplitKey, want []Column, from, to, later Timestamp,
	dst *Groups) error {
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
			if err = s.decodeRows(key, lo, end, dst); err == nil {
				err = s.decodeMeans(key, lo, end, dst)
			}
		}
		lo = end
	}
	if err != nil {
		dst.truncate(rows)
		return fmt.Errorf("split %v: %w", key, err)
	}
	return nil
}
