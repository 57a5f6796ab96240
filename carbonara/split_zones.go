package carbonara

import (
	"fmt"
	"math"
)

// GroupZone bounds the aggregates of one method for the groups that start at or after From and before To.
type GroupZone struct {
	From, To Timestamp
	Zone
}

// SplitZones appends to dst, for groups of src that ascend and are together all of them, bounds of what method m answers:
// vector by vector, told without decoding any. A search for values decodes only the vectors (DecodeSplit, From to To)
// whose zone its condition may hold in. Where nothing is known, as of splits of format 1, a zone is everything. An error
// wraps ErrCorrupt, and dst comes back as it was.
func SplitZones(src []byte, key SplitKey, m Method, dst []GroupZone) ([]GroupZone, error) {
	s := getScratch()
	defer s.release()
	if _, err := s.parseSplit(src, key.lastPosition()); err != nil {
		return dst, fmt.Errorf("split %v: %w", key, err)
	}
	n := len(s.positions)
	if n == 0 {
		return dst, nil
	}
	step := n
	if s.version == splitVectorVersion {
		step = vectorLen
	}
	for from := 0; from < n; from += step {
		to := min(from+step, n)
		zone, err := s.methodZone(m, from/vectorLen)
		if err != nil {
			return dst[:len(dst)-from/step], fmt.Errorf("split %v: %w", key, err)
		}
		dst = append(dst, GroupZone{key.at(s.positions[from]), key.at(s.positions[to-1]).Add(key.Granularity), zone})
	}
	return dst, nil
}

// everything is the zone of values that nothing is known of.
var everything = Zone{math.Inf(-1), math.Inf(1)}

// methodZone returns the zone of a method's aggregates in a vector of the parsed split.
func (s *scratch) methodZone(m Method, vector int) (Zone, error) {
	counts, column := m.columns()
	first, err := s.columnZone(counts, vector)
	if err != nil || counts == column {
		return first, err
	}
	of, err := s.columnZone(column, vector)
	if err != nil || of.Empty() {
		return of, err
	}
	if first.Empty() {
		return first, nil
	}
	z := divided(m, of, first)
	if z.Low != z.Low || z.High != z.High {
		return everything, nil // infinities
	}
	return z, nil
}

// divided returns the zone of means or standard deviations of groups with these sums or second moments, and counts.
// Division and square root make the greater of two no less than the other, so that what bounds the ends bounds the rest.
func divided(m Method, of, counts Zone) Zone {
	if m.Base() == Std {
		least := max(counts.Low-1, 1) // groups of one measure have no deviation
		return Zone{math.Sqrt(max(of.Low, 0) / max(counts.High-1, 1)), math.Sqrt(max(of.High, 0) / least)}
	}
	least := max(counts.Low, 1) // nor groups without any a mean
	return Zone{min(of.Low/least, of.Low/counts.High), max(of.High/least, of.High/counts.High)}
}

// columnZone returns the zone of a column in a vector of the parsed split.
func (s *scratch) columnZone(c Column, vector int) (Zone, error) {
	stored, ok := s.stored(c)
	if !ok {
		return emptyZone, nil
	}
	switch stored.body.codec & codecMask {
	case codecConstant, codecConstantDecimal:
		value, err := stored.body.appendTo(s.vector[:0], 1, 0, 1, s)
		if err != nil || value[0] != value[0] {
			return emptyZone, err
		}
		return Zone{value[0], value[0]}, nil
	case codecVectors:
		if s.version == splitVectorVersion {
			body := s.bodies[vector*s.slots+stored.slot]
			if len(body) < vectorHeadLen {
				return emptyZone, corrupt("vector %d", vector)
			}
			return decodeZone(body[vectorHeadLen-zoneLen:]), nil
		}
	}
	return everything, nil
}
