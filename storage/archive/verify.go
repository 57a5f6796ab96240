package archive

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"github.com/cespare/xxhash/v2"
	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/storage/engine"
)

// Verify decodes all of a value that lies under key in a sack's store: every operand of a split, a raw series or a
// count. It returns the operands that decode and those that do not, oldest first, sharing the value's memory; damaged
// is not empty either for a key that no store should have.
func Verify(key, value []byte) (intact, damaged [][]byte) {
	if len(key) > 1 && key[0] == prefixStore {
		switch {
		case key[1] == kindQuarantine, key[1] == kindAside, key[1] == kindChanges,
			key[1] == kindMark && len(value) == 8, bytes.Equal(key, timeKey) && len(value) == 8,
			bytes.Equal(key, unsettledKey) && len(value) == 1:
			return [][]byte{value}, nil
		}
		return nil, [][]byte{value}
	}
	_, kind, split, ok := ParseKey(key)
	if !ok {
		return nil, [][]byte{value}
	}
	if kind == KindPartial || kind == KindUnsettled {
		var err error
		if kind == KindPartial {
			_, err = decodePartialGroups(value)
		} else {
			_, err = decodeUnsettled(value)
		}
		if err != nil {
			return nil, [][]byte{value}
		}
		return [][]byte{value}, nil
	}
	for _, operand := range appendOperands(nil, value) {
		if verifyOperand(kind, split, operand) == nil {
			intact = append(intact, operand)
		} else {
			damaged = append(damaged, operand)
		}
	}
	return intact, damaged
}

func verifyOperand(kind Kind, split carbonara.SplitKey, operand []byte) error {
	switch kind {
	case KindSplit:
		columns, _, err := carbonara.AppendSplitColumns(nil, operand)
		if err != nil {
			return err
		}
		var groups carbonara.Groups
		groups.Reset(split.Granularity, columns)
		if err := carbonara.DecodeSplit(operand, split, columns, 0, carbonara.MaxTimestamp, &groups); err != nil {
			return err
		}
		return groups.CheckSketches()
	case KindRaw:
		_, _, err := carbonara.DecodeRaw(operand, nil, nil)
		return err
	case KindCount:
		_, err := addCounts(nil, [][]byte{operand})
		return err
	}
	return fmt.Errorf("archive: unknown kind %d", kind)
}

// asideKey is where a damaged operand of key is kept: its hash makes a second repair write the same again.
func asideKey(key, operand []byte) []byte {
	aside := append([]byte{prefixStore, kindAside}, key...)
	return binary.BigEndian.AppendUint64(aside, xxhash.Sum64(operand))
}

// SetAside takes the damaged operands of a value, see Verify, out of the way of the intact ones. They are kept, byte
// for byte, under a key of their own.
func (c *Checkpoint) SetAside(key []byte, intact, damaged [][]byte) {
	for _, operand := range damaged {
		c.KeepAside(key, operand)
	}
	switch len(intact) {
	case 0:
		c.delete(key)
	case 1:
		c.Set(key, intact[0])
	default:
		c.Set(key, appendList(nil, intact))
	}
}

// KeepAside keeps a damaged operand of key, without touching what lies under key now.
func (c *Checkpoint) KeepAside(key, operand []byte) { c.Set(asideKey(key, operand), operand) }

// Aside is something that did not decode and was kept.
type Aside struct {
	Source   string // of an incoming block: the identity of its incoming store
	Sequence uint64 // of an incoming block
	Key      []byte // of a damaged operand: where it lay; nil for an incoming block
	Bytes    []byte
}

// EachAside calls f with the incoming blocks that did not decode and were kept (Checkpoint.Quarantine), and the
// operands that a repair has set aside.
func (s *Store) EachAside(f func(Aside) error) error {
	return engine.Each(s.db, []byte{prefixStore}, []byte{prefixStore + 1}, func(key, value []byte) error {
		n := len(key)
		if n < 2+8 {
			return nil
		}
		a := Aside{Bytes: value}
		switch body := key[2 : n-8]; key[1] {
		case kindQuarantine:
			a.Source, a.Sequence = string(body[:max(len(body)-1, 0)]), binary.BigEndian.Uint64(key[n-8:])
		case kindAside:
			a.Key = body
		default:
			return nil
		}
		return f(a)
	})
}

// EachMark calls f with the mark of every incoming store that the sack has consumed from.
func (s *Store) EachMark(f func(source string, sequence uint64) error) error {
	return engine.Each(s.db, []byte{prefixStore, kindMark}, []byte{prefixStore, kindMark + 1},
		func(key, value []byte) error {
			if len(value) != 8 || bytes.Equal(key, sackKey) {
				return nil
			}
			return f(string(key[2:]), binary.BigEndian.Uint64(value))
		})
}

// KeyOf names what lies under a key of a sack's store, for people.
func KeyOf(key []byte) string {
	metric, kind, split, ok := ParseKey(key)
	switch {
	case bytes.Equal(key, sackKey):
		return "note of the sack"
	case !ok && len(key) > 1 && key[0] == prefixStore && key[1] == kindMark:
		return fmt.Sprintf("mark of incoming store %s", key[2:])
	case bytes.Equal(key, timeKey):
		return "time of the last checkpoint"
	case bytes.Equal(key, ChangesKey):
		return "notes of changes"
	case bytes.Equal(key, unsettledKey):
		return "note of unsettled measures"
	case !ok:
		return fmt.Sprintf("key %x", key)
	case kind == KindSplit:
		return fmt.Sprintf("metric %s, split %v", metric, split)
	case kind == KindRaw:
		return fmt.Sprintf("metric %s, raw series", metric)
	case kind == KindPartial:
		return fmt.Sprintf("metric %s, partial groups", metric)
	case kind == KindUnsettled:
		return fmt.Sprintf("metric %s, unsettled measures", metric)
	case IsLate(key):
		return fmt.Sprintf("metric %s, count of late measures", metric)
	}
	return fmt.Sprintf("metric %s, count of dropped measures", metric)
}

// RawKey returns the key of a metric's raw series.
func RawKey(metric uuid.UUID) []byte { return metricKey(nil, metric, kindRaw) }

// SplitKey returns the key of a split of a metric.
func SplitKey(metric uuid.UUID, split carbonara.SplitKey) []byte {
	return splitKey(nil, metric, split.Granularity, split.Start)
}
