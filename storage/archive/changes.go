package archive

import (
	"bytes"
	"cmp"
	"slices"
	"sync"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/sstable"
)

// changes gathers what is to be done to keys of a store, in order.
type changes struct {
	list   []change
	memory []byte // of keys and values, each behind its key
	ranges bool   // some delete ranges

	operands [][]byte // scratch of writeSame
}

type change struct {
	at         uint32 // in memory
	valueBytes uint32
	keyBytes   uint16
	kind       kindOfChange
}

type kindOfChange uint8

const (
	setKey kindOfChange = iota
	mergeKey
	deleteKey
	deleteRange // the value is the end
)

func (c *changes) key(i change) []byte { return c.memory[i.at:][:i.keyBytes] }

func (c *changes) value(i change) []byte { return c.memory[int(i.at)+int(i.keyBytes):][:i.valueBytes] }

// begin adds a change of a key. The caller appends its value to memory until end.
func (c *changes) begin(kind kindOfChange, key []byte) {
	c.list = append(c.list, change{kind: kind, at: uint32(len(c.memory)), keyBytes: uint16(len(key))})
	c.memory = append(c.memory, key...)
}

func (c *changes) end() {
	last := &c.list[len(c.list)-1]
	last.valueBytes = uint32(len(c.memory) - int(last.at) - int(last.keyBytes))
}

func (c *changes) add(kind kindOfChange, key, value []byte) {
	c.begin(kind, key)
	c.memory = append(c.memory, value...)
	c.end()
}

func (c *changes) deleteRange(from, to []byte) {
	c.add(deleteRange, from, to)
	c.ranges = true
}

// append adds the changes of another.
func (c *changes) append(other *changes) {
	for _, change := range other.list {
		c.add(change.kind, other.key(change), other.value(change))
	}
	c.ranges = c.ranges || other.ranges
}

// putInto puts the changes into a batch.
func (c *changes) putInto(batch *pebble.Batch) error {
	for _, change := range c.list {
		var err error
		switch key, value := c.key(change), c.value(change); change.kind {
		case setKey:
			err = batch.Set(key, value, nil)
		case mergeKey:
			err = batch.Merge(key, value, nil)
		case deleteKey:
			err = batch.Delete(key, nil)
		default:
			err = batch.DeleteRange(key, value, nil)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// writeTo writes the changes, none of which deletes a range, as a table, which has each key once, ascending.
func (c *changes) writeTo(table *sstable.Writer) error {
	slices.SortFunc(c.list, func(a, b change) int {
		if order := bytes.Compare(c.key(a), c.key(b)); order != 0 {
			return order
		}
		return cmp.Compare(a.at, b.at)
	})
	for rest := c.list; len(rest) > 0; {
		n := 1
		for n < len(rest) && bytes.Equal(c.key(rest[n]), c.key(rest[0])) {
			n++
		}
		if err := c.writeSame(table, rest[:n]); err != nil {
			return err
		}
		rest = rest[n:]
	}
	return nil
}

// writeSame writes what the changes of one key amount to.
func (c *changes) writeSame(table *sstable.Writer, same []change) error {
	operands := c.operands[:0]
	replaced := false // what the store has
	for _, change := range same {
		if change.kind != mergeKey {
			operands, replaced = operands[:0], true
		}
		if change.kind != deleteKey {
			operands = append(operands, c.value(change))
		}
	}
	c.operands = operands
	key := c.key(same[0])
	if len(operands) == 0 {
		return table.Delete(key)
	}
	value := operands[0]
	if len(operands) > 1 {
		var all [][]byte
		for _, operand := range operands {
			all = appendOperands(all, operand)
		}
		value = appendList(nil, all)
	}
	if replaced {
		return table.Set(key, value)
	}
	return table.Merge(key, value)
}

// keptChangesBytes bounds the memory of changes that is kept for the next ones.
const keptChangesBytes = 8 << 20

var usedChanges = sync.Pool{New: func() any { return new(changes) }}

// newChanges returns none, with memory for so many bytes.
func newChanges(size int) *changes {
	c := usedChanges.Get().(*changes)
	c.memory = slices.Grow(c.memory, size)
	return c
}

// release gives the memory to others.
func (c *changes) release() {
	if cap(c.memory) > keptChangesBytes {
		return
	}
	c.list, c.memory, c.ranges = c.list[:0], c.memory[:0], false
	usedChanges.Put(c)
}
