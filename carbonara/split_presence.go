package carbonara

import "github.com/gnocco-db/gnocco/carbonara/intcodec"

// Presence says which of a split's periods have a group: the positions, 0 to 3,599, ascending. It is written as
//
//	n<<2 | kind   uvarint
//	first         uvarint: the first position, if n > 0
//
// and then, if n > 1, by kind; the encoder chooses the smallest:
//
//	stride   uvarint: every next position is this much further; 1 is the usual case, all consecutive
//	runs     uvarint length-1 of a run of consecutive positions, uvarint missing-1 after it, and so on, up to n
//	gaps     n-1 uvarints: how many periods are missing before each next position
//	bitmap   uvarint last-first, then one bit for each position after first, low bits first
const (
	presenceStride = iota
	presenceRuns
	presenceGaps
	presenceBitmap
)

var presenceNames = [...]string{"stride", "runs", "gaps", "bitmap"}

func appendPresence(dst []byte, positions []uint16) []byte {
	n := len(positions)
	kind, stride := presenceKind(positions)
	dst = intcodec.AppendUvarint(dst, uint64(n)<<2|uint64(kind))
	if n == 0 {
		return dst
	}
	first := positions[0]
	dst = intcodec.AppendUvarint(dst, uint64(first))
	if n == 1 {
		return dst
	}
	switch kind {
	case presenceStride:
		return intcodec.AppendUvarint(dst, stride)
	case presenceRuns:
		for i := 0; i < n; {
			end := runEnd(positions, i)
			dst = intcodec.AppendUvarint(dst, uint64(end-i-1))
			if end < n {
				dst = intcodec.AppendUvarint(dst, uint64(positions[end]-positions[end-1]-2))
			}
			i = end
		}
	case presenceGaps:
		for i := 1; i < n; i++ {
			dst = intcodec.AppendUvarint(dst, uint64(positions[i]-positions[i-1]-1))
		}
	case presenceBitmap:
		span := int(positions[n-1] - first)
		dst = intcodec.AppendUvarint(dst, uint64(span))
		at := len(dst)
		dst = append(dst, make([]byte, (span+7)/8)...)
		for _, p := range positions[1:] {
			bit := p - first - 1
			dst[at+int(bit>>3)] |= 1 << (bit & 7)
		}
	}
	return dst
}

// runEnd returns the index after the run of consecutive positions that starts at index i.
func runEnd(positions []uint16, i int) int {
	for i++; i < len(positions) && positions[i] == positions[i-1]+1; i++ {
	}
	return i
}

// isConsecutive reports whether positions, which ascend, are one after the other.
func isConsecutive(positions []uint16) bool {
	return int(positions[len(positions)-1]-positions[0]) == len(positions)-1
}

// presenceKind returns the smallest kind, and its stride if it is that.
func presenceKind(positions []uint16) (kind int, stride uint64) {
	n := len(positions)
	if n <= 1 || isConsecutive(positions) {
		return presenceStride, 1
	}
	step := positions[1] - positions[0]
	i := 2
	for i < n && positions[i]-positions[i-1] == step {
		i++
	}
	if i == n {
		return presenceStride, uint64(step)
	}
	runs, gaps := 0, 0
	for i, start := 1, 0; i <= n; i++ {
		if i < n {
			missing := uint64(positions[i] - positions[i-1] - 1)
			gaps += intcodec.UvarintLen(missing)
			if missing == 0 {
				continue
			}
			runs += intcodec.UvarintLen(missing - 1)
		}
		runs += intcodec.UvarintLen(uint64(i - start - 1))
		start = i
	}
	span := uint64(positions[n-1] - positions[0])
	bitmap := intcodec.UvarintLen(span) + int(span+7)/8
	switch {
	case runs <= gaps && runs <= bitmap:
		return presenceRuns, 0
	case gaps <= bitmap:
		return presenceGaps, 0
	}
	return presenceBitmap, 0
}

// consecutivePositions are all there are.
var consecutivePositions = func() (all [GroupsPerSplit]uint16) {
	for i := range all {
		all[i] = uint16(i)
	}
	return all
}()

// decodePresence appends the positions, none of which exceeds last, and returns what follows them in src.
func decodePresence(src []byte, last int, positions []uint16) (_ []uint16, kind int, rest []byte, err error) {
	head, src, ok := intcodec.ConsumeUvarint(src)
	n, kind := head>>2, int(head&3)
	if !ok || n > GroupsPerSplit {
		return positions, kind, nil, corrupt("presence: number of groups")
	}
	if n == 0 {
		return positions, kind, src, nil
	}
	first, src, ok := intcodec.ConsumeUvarint(src)
	if !ok || first > uint64(last) {
		return positions, kind, nil, corrupt("presence: first position")
	}
	positions = append(positions, uint16(first))
	left := int(n) - 1
	at := first // the position appended last
	switch {
	case left == 0:
	case kind == presenceStride:
		stride, rest, ok := intcodec.ConsumeUvarint(src)
		if !ok || stride == 0 || stride > GroupsPerSplit || at+stride*uint64(left) > uint64(last) {
			return positions, kind, nil, corrupt("presence: stride")
		}
		src = rest
		if stride == 1 {
			positions = append(positions, consecutivePositions[at+1:][:left]...)
			break
		}
		for range left {
			at += stride
			positions = append(positions, uint16(at))
		}
	case kind == presenceRuns:
		for {
			more, rest, ok := intcodec.ConsumeUvarint(src)
			if !ok || more > uint64(left) || at+more > uint64(last) {
				return positions, kind, nil, corrupt("presence: run")
			}
			src = rest
			for range more {
				at++
				positions = append(positions, uint16(at))
			}
			if left -= int(more); left == 0 {
				break
			}
			missing, rest, ok := intcodec.ConsumeUvarint(src)
			if !ok || missing > GroupsPerSplit || at+missing+2 > uint64(last) {
				return positions, kind, nil, corrupt("presence: gap after a run")
			}
			src = rest
			at += missing + 2
			positions = append(positions, uint16(at))
			left-- // the first of the next run; its length counts the others
		}
	case kind == presenceGaps:
		for range left {
			missing, rest, ok := intcodec.ConsumeUvarint(src)
			if !ok || missing > GroupsPerSplit || at+missing+1 > uint64(last) {
				return positions, kind, nil, corrupt("presence: gap")
			}
			src = rest
			at += missing + 1
			positions = append(positions, uint16(at))
		}
	case kind == presenceBitmap:
		span, rest, ok := intcodec.ConsumeUvarint(src)
		if !ok || span > GroupsPerSplit || at+span > uint64(last) || uint64(len(rest)) < (span+7)/8 {
			return positions, kind, nil, corrupt("presence: bitmap")
		}
		bitmap := rest[:(span+7)/8]
		src = rest[len(bitmap):]
		for bit := range span {
			if bitmap[bit>>3]&(1<<(bit&7)) != 0 {
				positions = append(positions, uint16(first+1+bit))
				left--
			}
		}
		if left != 0 {
			return positions, kind, nil, corrupt("presence: bitmap with a wrong number of groups")
		}
	}
	return positions, kind, src, nil
}
