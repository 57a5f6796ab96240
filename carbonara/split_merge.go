package carbonara

import (
	"fmt"
	"slices"
)

// MergeSplits appends the split that operands, oldest first, fold into. A group of a newer operand replaces that of the
// same start in older ones, all its columns: one that the newer operand lacks is absent. Only so is the outcome the
// same however a store gathers operands before it folds them. An error wraps ErrCorrupt; dst comes back as it was.
// Dst must not overlap operands.
func MergeSplits(dst []byte, key SplitKey, operands [][]byte) ([]byte, error) {
	s := getScratch()
	defer s.release()
	out, err := s.mergeSplits(dst, key, operands)
	if err != nil {
		return dst, fmt.Errorf("merge split %v: %w", key, err)
	}
	return out, nil
}

func (s *scratch) mergeSplits(dst []byte, key SplitKey, operands [][]byte) ([]byte, error) {
	s.union = s.union[:0]
	for _, src := range operands {
		if _, err := s.parseSplit(src, key.lastPosition()); err != nil {
			return nil, err
		}
		for _, c := range s.columns {
			if i, ok := slices.BinarySearch(s.union, c.column); !ok {
				s.union = slices.Insert(s.union, i, c.column)
			}
		}
	}
	// All rows one operand after the other, and where each lies.
	g := &s.groups
	g.Reset(key.Granularity, s.union)
	s.rows = s.rows[:0]
	ascending := true
	for _, src := range operands {
		if _, err := s.parseSplit(src, key.lastPosition()); err != nil {
			return nil, err
		}
		if err := s.decodeRows(key, 0, len(s.positions), g); err != nil {
			return nil, err
		}
		if n := len(s.rows); n > 0 && len(s.positions) > 0 && s.positions[0] <= s.rows[n-1] {
			ascending = false
		}
		s.rows = append(s.rows, s.positions...)
	}
	if !ascending {
		g = s.gather(key)
	}
	return s.appendSplit(dst, key, g), nil
}

// gather returns s.groups, whose rows lie at s.rows, in order; the last one at a position counts.
func (s *scratch) gather(key SplitKey) *Groups {
	first, last := slices.Min(s.rows), slices.Max(s.rows)
	newest := slices.Grow(s.newest[:0], int(last-first)+1)[:last-first+1] // row + 1 of s.groups, of each position
	clear(newest)
	for row, p := range s.rows {
		newest[p-first] = int32(row + 1)
	}
	g := &s.merged
	g.Reset(key.Granularity, s.union)
	g.sketches, g.sketchBytes = s.groups.sketches, s.groups.sketchBytes
	kept := newest[:0]
	for p, row := range newest {
		if row > 0 {
			g.Starts = append(g.Starts, key.at(first+uint16(p)))
			kept = append(kept, row-1)
		}
	}
	for i, from := range s.groups.Values {
		values := slices.Grow(g.Values[i], len(kept))
		for _, row := range kept {
			values = append(values, from[row])
		}
		g.Values[i] = values
	}
	s.newest = newest
	return g
}
