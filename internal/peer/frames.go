package peer

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"gnocco/storage/incoming"
)

// The answer of poll is a row of frames, little-endian:
//
//	sack (2) | sequence (8) | length (4) | block     a record; those of a sack ascend
//	0xffff                                           then, for each sack that was asked for:
//	sack (2) | last (8)                              the highest sequence that the store has
//
// It ends with a sack of 0xffff. What is cut off is no answer.
const frameEnd = 0xffff

// maxBlock bounds what a broken answer can make us reserve.
const maxBlock = 1 << 30

var errFrame = errors.New("peer: answer does not decode")

func writeRecord(w io.Writer, sack int, r incoming.Record) error {
	var head [14]byte
	binary.LittleEndian.PutUint16(head[:], uint16(sack))
	binary.LittleEndian.PutUint64(head[2:], r.Sequence)
	binary.LittleEndian.PutUint32(head[10:], uint32(len(r.Block)))
	if _, err := w.Write(head[:]); err != nil {
		return err
	}
	_, err := w.Write(r.Block)
	return err
}

func writeLast(w io.Writer, sack int, last uint64) error {
	var head [10]byte
	binary.LittleEndian.PutUint16(head[:], uint16(sack))
	binary.LittleEndian.PutUint64(head[2:], last)
	_, err := w.Write(head[:])
	return err
}

func writeEnd(w io.Writer) error {
	_, err := w.Write([]byte{frameEnd & 0xff, frameEnd >> 8})
	return err
}

// readFrames calls record for each record and last for each sack.
func readFrames(r io.Reader, record func(sack int, r incoming.Record), last func(sack int, sequence uint64)) error {
	for {
		sack, err := readSack(r)
		if err != nil {
			return err
		}
		if sack == frameEnd {
			break
		}
		var head [12]byte
		if _, err := io.ReadFull(r, head[:]); err != nil {
			return fmt.Errorf("%w: %w", errFrame, err)
		}
		size := binary.LittleEndian.Uint32(head[8:])
		if size > maxBlock {
			return fmt.Errorf("%w: block of %d bytes", errFrame, size)
		}
		block, err := readBytes(r, int(size))
		if err != nil {
			return fmt.Errorf("%w: %w", errFrame, err)
		}
		record(sack, incoming.Record{Sequence: binary.LittleEndian.Uint64(head[:]), Block: block})
	}
	for {
		sack, err := readSack(r)
		if err != nil || sack == frameEnd {
			return err
		}
		var sequence [8]byte
		if _, err := io.ReadFull(r, sequence[:]); err != nil {
			return fmt.Errorf("%w: %w", errFrame, err)
		}
		last(sack, binary.LittleEndian.Uint64(sequence[:]))
	}
}

func readSack(r io.Reader) (int, error) {
	var sack [2]byte
	if _, err := io.ReadFull(r, sack[:]); err != nil {
		return 0, fmt.Errorf("%w: %w", errFrame, err)
	}
	return int(binary.LittleEndian.Uint16(sack[:])), nil
}

// readBytes reads n bytes, reserving memory as they come: a length alone costs nothing.
func readBytes(r io.Reader, n int) ([]byte, error) {
	const step = 1 << 20
	bytes := make([]byte, min(n, step))
	for read := 0; ; {
		if _, err := io.ReadFull(r, bytes[read:]); err != nil {
			return nil, err
		}
		if read = len(bytes); read == n {
			return bytes, nil
		}
		bytes = append(bytes, make([]byte, min(n-read, max(read, step)))...)
	}
}
