package peer

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/internal/keyhash"
	"github.com/gnocco-db/gnocco/storage/incoming"
)

// The answer of poll is a row of frames, little-endian:
//
//	sack (2) | sequence (8) | length (4) | block     a record; those of a sack ascend. If the length has its highest bit,
//	  number (4)                                     the block lacks its ids, which are those of this record, from 0
//	0xffff                                           then, for each sack that was asked for:
//	sack (2) | last (8)                              the highest sequence that the store has
//	0xffff
//	clocks (2) | id (16) …
//	clock (2) | stamp (8)                            of each record, in their order; clock counts from 0
//	clock (2) | frontier (8)                         of each sack, in their order; a clock of 0xffff for none
//	id (16) | received (8) | answered (8)            the store's own clock, and when by it
//	length (4) | JSON                                the sacks whose records are damaged
//
// A cut-off answer is invalid.
const frameEnd = 0xffff

// cutBlock marks the length of a block without ids.
const cutBlock = 1 << 31

// maxBlock bounds the memory that a broken answer can make us reserve.
const maxBlock = 1 << 30

var errFrame = errors.New("peer: answer does not decode")

// pollAnswer is the answer of poll.
type pollAnswer struct {
	records []sackRecord
	lists   bool // who reads the answer knows of blocks without ids
	sacks   []sackEnd

	clock              uuid.UUID
	received, answered int64 // by that clock

	damaged []damagedSack
}

// damagedSack is a sack of which the next records cannot be read.
type damagedSack struct {
	Sack   int    `json:"sack"`
	Store  string `json:"store"` // its name
	Reason string `json:"reason"`
}

type sackRecord struct {
	sack int
	incoming.Record
}

// sackEnd says how far the records of a sack reach: to the frontier, if it has one.
type sackEnd struct {
	sack        int
	last        uint64
	frontier    incoming.Stamp
	hasFrontier bool
}

func (a *pollAnswer) write(w io.Writer) error {
	first := make(map[keyhash.Hash]int) // by list, the first record that has it
	var head []byte
	for i := range a.records {
		r := &a.records[i]
		head = binary.LittleEndian.AppendUint16(head[:0], uint16(r.sack))
		head = binary.LittleEndian.AppendUint64(head, r.Sequence)
		block, rest := r.Block, []byte(nil)
		if of, ok := first[r.List]; ok {
			before, ids, behind, err := incoming.CutIDs(block)
			if err != nil {
				return err
			}
			head = binary.LittleEndian.AppendUint32(head, uint32(len(block)-len(ids))|cutBlock)
			head = binary.LittleEndian.AppendUint32(head, uint32(of))
			block, rest = before, behind
		} else {
			head = binary.LittleEndian.AppendUint32(head, uint32(len(block)))
			if a.lists && r.List != (keyhash.Hash{}) {
				first[r.List] = i
			}
		}
		for _, part := range [][]byte{head, block, rest} {
			if _, err := w.Write(part); err != nil {
				return err
			}
		}
	}
	tail := []byte{frameEnd & 0xff, frameEnd >> 8}
	for _, s := range a.sacks {
		tail = binary.LittleEndian.AppendUint16(tail, uint16(s.sack))
		tail = binary.LittleEndian.AppendUint64(tail, s.last)
	}
	tail = append(tail, frameEnd&0xff, frameEnd>>8)
	_, err := w.Write(a.appendStamps(tail))
	return err
}

func (a *pollAnswer) appendStamps(dst []byte) []byte {
	var clocks []uuid.UUID
	var stamps []byte
	add := func(s incoming.Stamp) {
		i := slices.Index(clocks, s.Clock)
		if i < 0 {
			i, clocks = len(clocks), append(clocks, s.Clock)
		}
		stamps = binary.LittleEndian.AppendUint16(stamps, uint16(i))
		stamps = binary.LittleEndian.AppendUint64(stamps, uint64(s.At))
	}
	for i := range a.records {
		add(a.records[i].Stamp)
	}
	for _, s := range a.sacks {
		if s.hasFrontier {
			add(s.frontier)
			continue
		}
		stamps = binary.LittleEndian.AppendUint16(stamps, frameEnd)
		stamps = binary.LittleEndian.AppendUint64(stamps, 0)
	}
	dst = binary.LittleEndian.AppendUint16(dst, uint16(len(clocks)))
	for _, c := range clocks {
		dst = append(dst, c[:]...)
	}
	dst = append(dst, stamps...)
	dst = append(dst, a.clock[:]...)
	dst = binary.LittleEndian.AppendUint64(dst, uint64(a.received))
	dst = binary.LittleEndian.AppendUint64(dst, uint64(a.answered))
	damaged, _ := json.Marshal(a.damaged) // of texts and numbers
	return append(binary.LittleEndian.AppendUint32(dst, uint32(len(damaged))), damaged...)
}

func readAnswer(r io.Reader) (*pollAnswer, error) {
	a := new(pollAnswer)
	for _, section := range []func(io.Reader) error{a.readRecords, a.readSacks, a.readStamps, a.readDamaged} {
		if err := section(r); err != nil {
			return nil, fmt.Errorf("%w: %w", errFrame, err)
		}
	}
	return a, nil
}

func (a *pollAnswer) readRecords(r io.Reader) error {
	for {
		sack, err := readNumber(r)
		if err != nil || sack == frameEnd {
			return err
		}
		var head [12]byte
		if _, err := io.ReadFull(r, head[:]); err != nil {
			return err
		}
		size := binary.LittleEndian.Uint32(head[8:])
		record := incoming.Record{Sequence: binary.LittleEndian.Uint64(head[:])}
		if size&cutBlock != 0 {
			if record.List, record.IDs, err = a.readList(r); err != nil {
				return err
			}
		}
		if size &^= cutBlock; size > maxBlock {
			return fmt.Errorf("block of %d bytes", size)
		}
		if record.Block, err = readBytes(r, int(size)); err != nil {
			return err
		}
		if record.IDs == nil {
			record.List = incoming.ListOf(record.Block)
		}
		a.records = append(a.records, sackRecord{sack, record})
	}
}

// readList reads the number of a record, and returns the list of its metrics, and their ids.
func (a *pollAnswer) readList(r io.Reader) (list keyhash.Hash, ids []byte, err error) {
	var number [4]byte
	if _, err := io.ReadFull(r, number[:]); err != nil {
		return list, nil, err
	}
	of := binary.LittleEndian.Uint32(number[:])
	if int64(of) >= int64(len(a.records)) || a.records[of].IDs != nil || a.records[of].List == (keyhash.Hash{}) {
		return list, nil, fmt.Errorf("record %d has no list", of)
	}
	_, ids, _, err = incoming.CutIDs(a.records[of].Block)
	return a.records[of].List, ids, err
}

func (a *pollAnswer) readSacks(r io.Reader) error {
	for {
		sack, err := readNumber(r)
		if err != nil || sack == frameEnd {
			return err
		}
		var sequence [8]byte
		if _, err := io.ReadFull(r, sequence[:]); err != nil {
			return err
		}
		a.sacks = append(a.sacks, sackEnd{sack: sack, last: binary.LittleEndian.Uint64(sequence[:])})
	}
}

func (a *pollAnswer) readStamps(r io.Reader) error {
	n, err := readNumber(r)
	if err != nil {
		return err
	}
	clocks := make([]uuid.UUID, 0, min(n, len(a.records)+len(a.sacks)))
	for range n {
		var id uuid.UUID
		if _, err := io.ReadFull(r, id[:]); err != nil {
			return err
		}
		clocks = append(clocks, id)
	}
	for i := range a.records {
		var ok bool
		if a.records[i].Stamp, ok, err = readStamp(r, clocks); err != nil || !ok {
			return errors.Join(errors.New("stamp of a record"), err)
		}
	}
	for i := range a.sacks {
		s := &a.sacks[i]
		if s.frontier, s.hasFrontier, err = readStamp(r, clocks); err != nil {
			return err
		}
	}
	var times [32]byte
	if _, err := io.ReadFull(r, times[:]); err != nil {
		return err
	}
	a.clock = uuid.UUID(times[:16])
	a.received, a.answered = int64(binary.LittleEndian.Uint64(times[16:])), int64(
		binary.LittleEndian.Uint64(times[24:]))
	return nil
}

func (a *pollAnswer) readDamaged(r io.Reader) error {
	var length [4]byte
	if _, err := io.ReadFull(r, length[:]); err != nil {
		return err
	}
	text, err := readBytes(r, int(min(binary.LittleEndian.Uint32(length[:]), maxBlock)))
	if err != nil {
		return err
	}
	return json.Unmarshal(text, &a.damaged)
}

// readStamp reads a stamp; ok is false for none.
func readStamp(r io.Reader, clocks []uuid.UUID) (s incoming.Stamp, ok bool, err error) {
	var stamp [10]byte
	if _, err := io.ReadFull(r, stamp[:]); err != nil {
		return s, false, err
	}
	clock := int(binary.LittleEndian.Uint16(stamp[:]))
	if clock == frameEnd {
		return s, false, nil
	}
	if clock >= len(clocks) {
		return s, false, fmt.Errorf("clock %d of %d", clock, len(clocks))
	}
	return incoming.Stamp{Clock: clocks[clock], At: int64(binary.LittleEndian.Uint64(stamp[2:]))}, true, nil
}

func readNumber(r io.Reader) (int, error) {
	var n [2]byte
	if _, err := io.ReadFull(r, n[:]); err != nil {
		return 0, err
	}
	return int(binary.LittleEndian.Uint16(n[:])), nil
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
