package peer

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"math"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/internal/budget"
	"github.com/gnocco-db/gnocco/internal/counted"
)

// The answer of groups is, for each read in order, little-endian: number of groups (4) | their starts (8 each) | the
// values of each column (8 each), one column after the other. Bit 31 of the number says that means of infinite sums
// follow: their number (4), and for each its group's start (8), its sum (1) and mean (8). Sketches, if they are asked
// for and there are groups, follow as their length (4) and as in splits. A cut-off answer is invalid.
//
// Raw measures begin with which of them are kept: from when on (8), and the newest one (8); both are -1 for none.

// maxGroups bounds the memory that a broken answer can make us reserve: a read of a day of milliseconds has less.
const maxGroups = 1 << 28

const (
	withMeans = 1 << 31
	meanBytes = 17
)

// appendGroups appends the columns of g.
func appendGroups(dst []byte, g *carbonara.Groups) []byte {
	if g.Granularity == 0 {
		span := g.Raw
		if !span.Any {
			span.KeptFrom, span.Newest = -1, -1
		}
		dst = binary.LittleEndian.AppendUint64(dst, uint64(span.KeptFrom))
		dst = binary.LittleEndian.AppendUint64(dst, uint64(span.Newest))
	}
	means := appendMeans(nil, g)
	head := uint32(g.Len())
	if len(means) > 0 {
		head |= withMeans
	}
	dst = binary.LittleEndian.AppendUint32(dst, head)
	for _, start := range g.Starts {
		dst = binary.LittleEndian.AppendUint64(dst, uint64(start))
	}
	for _, values := range g.Values {
		for _, v := range values {
			dst = binary.LittleEndian.AppendUint64(dst, math.Float64bits(v))
		}
	}
	if len(means) > 0 {
		dst = binary.LittleEndian.AppendUint32(dst, uint32(len(means)/meanBytes))
	}
	dst = append(dst, means...)
	if g.Len() > 0 && g.Column(carbonara.ColumnSketch) != nil {
		at := len(dst)
		dst = g.AppendSketches(append(dst, 0, 0, 0, 0))
		binary.LittleEndian.PutUint32(dst[at:], uint32(len(dst)-at-4))
	}
	return dst
}

// appendMeans appends the means of g's infinite sums.
func appendMeans(dst []byte, g *carbonara.Groups) []byte {
	g.HugeMeans(func(start carbonara.Timestamp, sum carbonara.Column, mean float64) {
		dst = append(binary.LittleEndian.AppendUint64(dst, uint64(start)), byte(sum))
		dst = binary.LittleEndian.AppendUint64(dst, math.Float64bits(mean))
	})
	return dst
}

// readGroups fills dst, whose granularity and columns are set.
func readGroups(ctx context.Context, r io.Reader, dst *carbonara.Groups) error {
	if dst.Granularity == 0 {
		var span [16]byte
		if _, err := io.ReadFull(r, span[:]); err != nil {
			return fmt.Errorf("%w: %w", errFrame, err)
		}
		first, newest := binary.LittleEndian.Uint64(span[:]), binary.LittleEndian.Uint64(span[8:])
		if first != math.MaxUint64 {
			dst.Raw = carbonara.RawSpan{KeptFrom: carbonara.Timestamp(first), Newest: carbonara.Timestamp(newest),
				Any: true}
		}
	}
	var head [4]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return fmt.Errorf("%w: %w", errFrame, err)
	}
	n := binary.LittleEndian.Uint32(head[:])
	means := n&withMeans != 0
	if n &^= withMeans; n > maxGroups {
		return fmt.Errorf("%w: %s", errFrame, counted.Of(n, "group"))
	}
	if err := budget.Of(ctx).Acquire(budget.Answers, 8*int64(1+len(dst.Columns))*int64(n)); err != nil {
		return err
	}
	column := func(add func(uint64)) error {
		values, err := readBytes(r, 8*int(n))
		if err != nil {
			return fmt.Errorf("%w: %w", errFrame, err)
		}
		for ; len(values) > 0; values = values[8:] {
			add(binary.LittleEndian.Uint64(values))
		}
		return nil
	}
	if n == 0 && !means {
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
	if means {
		if err := readMeans(r, int(n)*len(dst.Columns), dst); err != nil {
			return err
		}
	}
	if n > 0 && dst.Column(carbonara.ColumnSketch) != nil {
		return readSketches(ctx, r, dst)
	}
	return nil
}

// readSketches reads the sketches of dst.
func readSketches(ctx context.Context, r io.Reader, dst *carbonara.Groups) error {
	head, err := readBytes(r, 4)
	if err != nil {
		return fmt.Errorf("%w: %w", errFrame, err)
	}
	body, err := readBytes(r, int(binary.LittleEndian.Uint32(head)))
	if err == nil {
		err = dst.ReadSketches(body)
	}
	if err != nil {
		return fmt.Errorf("%w: %w", errFrame, err)
	}
	return budget.Of(ctx).Acquire(budget.Answers, int64(dst.SketchBytes()))
}

// readMeans reads the means of dst, at most that many.
func readMeans(r io.Reader, most int, dst *carbonara.Groups) error {
	head, err := readBytes(r, 4)
	if err != nil {
		return fmt.Errorf("%w: %w", errFrame, err)
	}
	n := int(binary.LittleEndian.Uint32(head))
	if n > most {
		return fmt.Errorf("%w: %s", errFrame, counted.Of(n, "mean"))
	}
	means, err := readBytes(r, n*meanBytes)
	if err != nil {
		return fmt.Errorf("%w: %w", errFrame, err)
	}
	for rest := means; len(rest) > 0; rest = rest[meanBytes:] {
		dst.SetHugeMean(carbonara.Timestamp(binary.LittleEndian.Uint64(rest)), carbonara.Column(rest[8]),
			math.Float64frombits(binary.LittleEndian.Uint64(rest[9:])))
	}
	if n == 0 || !bytes.Equal(appendMeans(nil, dst), means) {
		return fmt.Errorf("%w: means of no groups", errFrame)
	}
	return nil
}
