package carbonara

import "math"

// groupsPerZone returns how many groups of the parsed split, which has any, a zone bounds.
func (s *scratch) groupsPerZone() int {
	if s.version == splitVectorVersion {
		return vectorLen
	}
	return len(s.positions)
}

// methodZone returns the zone of a method's aggregates in a vector of the parsed split.
func (s *scratch) methodZone(m Method, vector int) (Zone, error) {
	if _, ok := s.stored(ColumnSketch); ok && (m == SketchMethod || m.OfSketch() > 0) {
		return everything, nil // a percentile may be one of the sketch
	}
	if m.IsCounter() {
		return everything, nil // they also depend on the group before
	}
	counts, column := m.columns()
	if _, ok := s.stored(ColumnMean | counts&rateBit); ok && m.Base() == Mean {
		return everything, nil // some sums are infinite, and their means are not
	}
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
// Division and square root make the greater of two no less than the other, so that what bounds the ends bounds the
// rest.
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
