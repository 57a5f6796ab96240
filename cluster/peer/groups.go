package peer

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"math"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/internal/budget"
)

// The answer of groups is, for each read in order, little-endian: number of groups (4) | their starts (8 each) | the
// values of each column (8 each), one column after the other. A cut-off answer is invalid.

// maxGroups bounds the memory that a broken answer can make us reserve: a read of a day of milliseconds has less.
const maxGroups = 1 << 28

// appendGroups appends the columns of g.
func appendGroups(dst []byte, g *carbonara.Groups) []byte {
	dst = binary.LittleEndian.AppendUint32(dst, uint32(g.Len()))
	for _, start := range g.Starts {
		dst = binary.LittleEndian.AppendUint64(dst, uint64(start))
	}
	for _, values := range g.Values {
		for _, v := range values {
			dst = binary.LittleEndian.AppendUint64(dst, math.Float64bits(v))
		}
	}
	return dst
}

// readGroups fills dst, whose granularity and columns are set.
func readGroups(ctx context.Context, r io.Reader, dst *carbonara.Groups) error {
	var head [4]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return fmt.Errorf("%w: %w", errFrame, err)
	}
	n := binary.LittleEndian.Uint32(head[:])
	if n > maxGroups {
		return fmt.Errorf("%w: %d groups", errFrame, n)
	}
	if err := budget.Of(ctx).Acquire(budget.Answers, 8*int64(1+len(dst.Columns))*int64(n)); err != nil {
		return err
	}
	column := func(add func(uint64)) error {
		bytes, err := readBytes(r, 8*int(n))
		if err != nil {
			return fmt.Errorf("%w: %w", errFrame, err)
		}
		for ; len(bytes) > 0; bytes = bytes[8:] {
			add(binary.LittleEndian.Uint64(bytes))
		}
		return nil
	}
	if n == 0 {
		return nil
	}
	if err := column(func(v uint64) { dst.Starts = append(dst.Starts, carbonara.Timestamp(v)) }); err != nil {
		return err
	}
	for i := range dst.Values {
		if err := column(func(v uint64) {
			dst.Values[i] = append(dst.Values[i], math.Float64frombits(v))
		}); err != nil {
			return err
		}
	}
	return nil
}
