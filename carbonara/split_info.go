package carbonara

import (
	"fmt"
	"slices"
	"strings"
)

// SplitDescription is how a split is stored, for inspect.
type SplitDescription struct {
	Version  int
	Groups   int
	Bytes    int
	Presence string // how it says which periods have a group: "stride", "runs", "gaps", "bitmap"
	Columns  []ColumnDescription
}

// ColumnDescription is how one column of a split is stored.
type ColumnDescription struct {
	Column Column
	Codec  string // such as "decimal delta e=2 zstd"; "same" for one that another column tells
	Bytes  int    // of its body
}

// SplitInfo describes src. An error wraps ErrCorrupt.
func SplitInfo(src []byte) (SplitDescription, error) {
	s := getScratch()
	defer s.release()
	presence, err := s.parseSplit(src, GroupsPerSplit-1)
	if err != nil {
		return SplitDescription{}, err
	}
	d := SplitDescription{Version: int(src[0]), Groups: len(s.positions), Bytes: len(src),
		Presence: presenceNames[presence]}
	for _, c := range s.columns {
		info := ColumnDescription{Column: c.column, Codec: c.body.String(), Bytes: len(c.body.bytes)}
		if c.column == ColumnSketch {
			info.Codec = "sketches"
			for at := c.slot; s.version == splitVectorVersion && at < len(s.bodies); at += s.slots {
				info.Bytes += len(s.bodies[at])
			}
		} else if s.version == splitVectorVersion && c.body.codec == codecVectors {
			info.Codec, info.Bytes = s.vectorDescription(c.slot)
		}
		if c.same {
			info.Codec, info.Bytes = codecNames[codecSame], 0
		}
		d.Columns = append(d.Columns, info)
	}
	return d, nil
}

// AppendSplitColumns appends the columns of src, and returns its number of groups. An error wraps ErrCorrupt.
func AppendSplitColumns(dst []Column, src []byte) (columns []Column, groups int, err error) {
	s := getScratch()
	defer s.release()
	if _, err := s.parseSplit(src, GroupsPerSplit-1); err != nil {
		return dst, 0, err
	}
	for _, c := range s.columns {
		dst = append(dst, c.column)
	}
	return dst, len(s.positions), nil
}

// vectorDescription returns the kinds of vector column that a column in the vectors has, each once, and its bytes.
func (s *scratch) vectorDescription(slot int) (codec string, bytes int) {
	var kinds []string
	for at := slot; at < len(s.bodies); at += s.slots {
		body := s.bodies[at]
		bytes += len(body)
		if len(body) < vectorHeadLen || int(body[0]&vectorKindMask) >= len(vectorKindNames) {
			continue
		}
		kind := vectorKindNames[body[0]&vectorKindMask]
		if k := body[0] & vectorKindMask; k != vectorFloats && k != vectorPrefixes {
			kind += fmt.Sprintf(" e=%d", body[1])
		}
		if body[0]&vectorResiduals != 0 {
			kind += " with residuals"
		}
		if body[0]&vectorExceptions != 0 {
			kind += " with exceptions"
		}
		if !slices.Contains(kinds, kind) {
			kinds = append(kinds, kind)
		}
	}
	return strings.Join(kinds, ", "), bytes
}
