package archive

import (
	"encoding/binary"
	"fmt"
	"io"
	"slices"
	"sync"

	"github.com/cockroachdb/pebble/v2"

	"github.com/gnocco-db/gnocco/carbonara"
)

// The value of a split or raw series is an operand, or a list of operands, oldest first:
//
//	0x00 { length uvarint, operand }…
//
// An operand begins with its format's version, which is never 0. Merging keeps a large base apart from the small
// operands that follow it until these have grown to a part of it, or trim a part of it: a read then need not encode the
// base anew, and compactions rewrite it a logarithmic number of times. Operands that do not decode stay in the list as
// they are.
const listMark = 0x00

// tailShare is the part of the base's size, 1/tailShare, that younger operands reach before they are folded into it.
const tailShare = 4

// maxOperands bounds a list that holds operands which do not fold.
const maxOperands = 64

// mergerName is recorded in every store: a change of the meaning of merging needs another name.
const mergerName = "gnocco.archive.1"

// NewMerger returns the merge operator of the stores, for tools that read their tables.
func NewMerger() *pebble.Merger { return newMerger(func() bool { return true }) }

// newMerger returns a merge operator that folds operands where tables are written, which rewriting reports. While none
// is, it is a read that asks: it gets the operands as they lie, in a list, and decodes those that it wants. To fold and
// encode them would cost it many times that.
func newMerger(rewriting func() bool) *pebble.Merger {
	return &pebble.Merger{Name: mergerName, Merge: func(key, value []byte) (pebble.ValueMerger, error) {
		fold, trimmed, err := folderOf(key)
		if err != nil {
			return nil, err
		}
		m := valueMergers.Get().(*valueMerger)
		m.fold, m.trimmed, m.rewriting = fold, trimmed, rewriting
		return m, m.MergeNewer(value)
	}}
}

// fold makes one operand of several, oldest first.
type fold func(dst []byte, operands [][]byte) ([]byte, error)

// folderOf returns how operands of a key fold, and, if that is not only a matter of their sizes, what reports that they
// should.
func folderOf(key []byte) (fold fold, trimmed func(operands [][]byte) bool, err error) {
	if len(key) > kindOffset && key[0] == prefixMetric {
		switch key[kindOffset] {
		case kindRaw:
			return carbonara.MergeRaw, carbonara.IsTrimmed, nil
		case kindSplit:
			if _, split, ok := parseSplitKey(key); ok {
				return func(dst []byte, operands [][]byte) ([]byte, error) {
					return carbonara.MergeSplits(dst, split, operands)
				}, nil, nil
			}
		case kindCount:
			return addCounts, nil, nil
		}
	}
	return nil, nil, fmt.Errorf("archive: merge of unknown key %x", key)
}

func addCounts(dst []byte, operands [][]byte) ([]byte, error) {
	var total uint64
	for _, o := range operands {
		if len(o) != countSize {
			return nil, fmt.Errorf("archive: count of %d bytes", len(o))
		}
		total += binary.BigEndian.Uint64(o[1:])
	}
	return appendCount(dst, total), nil
}

const countSize = 9

func appendCount(dst []byte, n uint64) []byte {
	return binary.BigEndian.AppendUint64(append(dst, 1), n)
}

// valueMerger implements pebble.ValueMerger. A read that finds operands not yet merged by a compaction makes one for
// each split, so they are used again.
type valueMerger struct {
	fold      fold
	trimmed   func(operands [][]byte) bool // nil: never
	rewriting func() bool
	newer     [][]byte // oldest first; in memory, or where that was before it grew
	older     [][]byte // than those, newest first
	memory    []byte
	result    []byte // that was returned
	folded    []byte // a part of it
}

var valueMergers = sync.Pool{New: func() any { return new(valueMerger) }}

// keep copies value, which is Pebble's.
func (m *valueMerger) keep(value []byte) []byte {
	from := len(m.memory)
	m.memory = append(m.memory, value...)
	return m.memory[from:len(m.memory):len(m.memory)]
}

func (m *valueMerger) MergeNewer(value []byte) error {
	m.newer = appendOperands(m.newer, m.keep(value))
	return nil
}

func (m *valueMerger) MergeOlder(value []byte) error {
	from := len(m.older)
	m.older = appendOperands(m.older, m.keep(value))
	slices.Reverse(m.older[from:])
	return nil
}

// Finish returns a value that is valid until m is closed, which Pebble does.
func (m *valueMerger) Finish(bool) ([]byte, io.Closer, error) {
	slices.Reverse(m.older)
	operands := append(m.older, m.newer...)
	m.older = operands
	switch {
	case len(operands) == 1:
		return operands[0], m, nil
	case !m.rewriting():
		m.result = appendList(m.result[:0], operands)
		return m.result, m, nil
	case m.trimmed != nil && m.trimmed(operands) && m.foldAll(operands):
		return m.result, m, nil
	}
	m.foldTail(operands)
	return m.result, m, nil
}

// foldAll makes one operand of all, and reports whether they decode.
func (m *valueMerger) foldAll(operands [][]byte) bool {
	result, err := m.fold(m.result[:0], operands)
	if err == nil {
		m.result = result
	}
	return err == nil
}

// maxMergerMemory is how much memory a merger that waits to be used again may hold of its operands, in bytes.
const maxMergerMemory = 128 << 10

func (m *valueMerger) Close() error {
	clear(m.newer)
	clear(m.older)
	m.newer, m.older = m.newer[:0], m.older[:0]
	for _, b := range []*[]byte{&m.memory, &m.result, &m.folded} {
		if *b = (*b)[:0]; cap(*b) > maxMergerMemory {
			*b = nil
		}
	}
	valueMergers.Put(m)
	return nil
}

// foldTail makes the result of operands: one, or a list.
func (m *valueMerger) foldTail(operands [][]byte) {
	tail := 0
	for _, o := range operands[1:] {
		tail += len(o)
	}
	if tail*tailShare >= len(operands[0]) {
		if m.foldAll(operands) {
			return
		}
	} else if len(operands) > 2 {
		if folded, err := m.fold(m.folded[:0], operands[1:]); err == nil {
			m.folded = folded
			m.result = appendList(m.result[:0], [][]byte{operands[0], folded})
			return
		}
	}
	if len(operands) > maxOperands {
		operands = foldRuns(m.fold, operands)
	}
	m.result = appendList(m.result[:0], operands)
}

// foldRuns folds what can be folded around operands that do not decode, which stay.
func foldRuns(fold fold, operands [][]byte) [][]byte {
	kept := operands[:0:0]
	for _, o := range operands {
		if n := len(kept); n > 0 {
			if folded, err := fold(nil, [][]byte{kept[n-1], o}); err == nil {
				kept[n-1] = folded
				continue
			}
		}
		kept = append(kept, o)
	}
	return kept
}

func appendList(dst []byte, operands [][]byte) []byte {
	dst = append(dst, listMark)
	for _, o := range operands {
		dst = binary.AppendUvarint(dst, uint64(len(o)))
		dst = append(dst, o...)
	}
	return dst
}

// appendOperands appends the operands of value, which they share. A list that is cut short ends with its rest.
func appendOperands(operands [][]byte, value []byte) [][]byte {
	if len(value) == 0 || value[0] != listMark {
		return append(operands, value)
	}
	for value = value[1:]; len(value) > 0; {
		n, size := binary.Uvarint(value)
		if size <= 0 || n > uint64(len(value)-size) {
			return append(operands, value)
		}
		value = value[size:]
		operands = append(operands, value[:n:n])
		value = value[n:]
	}
	return operands
}
