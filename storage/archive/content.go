package archive

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/cespare/xxhash/v2"
	"github.com/cockroachdb/pebble/v2"
	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/storage"
	"github.com/gnocco-db/gnocco/storage/engine"
)

// The content of a metric's archive is what another metric needs to go on as this one: raw series, splits, counts and
// partial groups. It travels in parts:
//
//	0x01 { length uvarint, key, length uvarint, value }… hash(8)
//
// A key is that of the store without the metric, and keys ascend. A value is one operand. hash is xxHash64 of all
// before. Unsettled measures stay behind: their order concerns the incoming stores of one cluster.
const contentFormat = 1

// Content returns a part of a metric's content, of at least bytes if there is more, and the token by which the next
// part is read; nil after the last one. token is nil for the first part. The content is changed if measures came after
// the part that the token is of. An error wraps storage.ErrCorrupt if a value does not decode.
func (s *Store) Content(metric uuid.UUID, token []byte, least int) (c model.Content, err error) {
	if c, err = s.content(metric, token, least); err != nil {
		return c, fmt.Errorf("archive: content of %s: %w", metric, err)
	}
	return c, nil
}

func (s *Store) content(metric uuid.UUID, token []byte, least int) (c model.Content, err error) {
	version, err := s.contentVersion(metric)
	if err != nil {
		return c, err
	}
	lower := metricKey(nil, metric, 0)
	if token != nil {
		if !bytes.HasPrefix(token, version) || len(token) == len(version) {
			return model.Content{Changed: true}, nil
		}
		lower = append(append(lower[:kindOffset], token[len(version):]...), 0)
	}
	iter, err := s.reads().NewIter(&pebble.IterOptions{LowerBound: lower,
		UpperBound: metricKey(nil, metric, kindUnsettled)})
	if err != nil {
		return c, err
	}
	defer func() { err = errors.Join(err, iter.Close()) }()
	part := []byte{contentFormat}
	for valid := iter.First(); valid; valid = iter.Next() {
		key := iter.Key()
		if len(part) >= least {
			break
		}
		value, err := iter.ValueAndErr()
		if err == nil {
			value, err = contentValue(key, value)
		}
		if err != nil {
			return c, err
		}
		c.Next = append(slices.Clone(version), key[kindOffset:]...)
		part = appendContent(part, key, value)
	}
	if !iter.Valid() {
		c.Next = nil
	}
	c.Part = sealContent(part)
	return c, iter.Error()
}

func appendContent(part, key, value []byte) []byte {
	part = append(binary.AppendUvarint(part, uint64(len(key)-kindOffset)), key[kindOffset:]...)
	return append(binary.AppendUvarint(part, uint64(len(value))), value...)
}

func sealContent(part []byte) []byte { return binary.BigEndian.AppendUint64(part, xxhash.Sum64(part)) }

// contentVersion returns what changes with every measure that the archive takes.
func (s *Store) contentVersion(metric uuid.UUID) ([]byte, error) {
	value, err := engine.Get(s.reads(), RawKey(metric))
	if err == nil && value == nil {
		return make([]byte, 8), nil
	}
	return binary.BigEndian.AppendUint64(nil, xxhash.Sum64(value)), err
}

// contentValue returns a value as one operand that decodes.
func contentValue(key, value []byte) ([]byte, error) {
	if _, damaged := Verify(key, value); len(damaged) > 0 {
		return nil, fmt.Errorf("%s: %w", KeyOf(key), storage.ErrCorrupt)
	}
	if key[kindOffset] == kindPartial {
		return value, nil
	}
	operands := appendOperands(nil, value)
	if len(operands) == 1 {
		return operands[0], nil
	}
	fold, _, err := folderOf(key)
	if err != nil {
		return nil, err
	}
	return fold(nil, operands)
}

// PutContent adds a part of the content of another metric's archive, of the same archive policy. Parts come in their
// order. It returns how many values are new; the metric has the other ones. The error is a model.RefusedError if the
// part does not decode, or the metric has measures of its own.
func (c *Checkpoint) PutContent(metric uuid.UUID, part []byte, plan *carbonara.Plan) (written int, err error) {
	last, err := c.store.lastContent(metric)
	if err != nil {
		return 0, fmt.Errorf("archive: put content of %s: %w", metric, err)
	}
	entries, ok := contentEntries(metric, part)
	if !ok {
		return 0, model.Refused("the content of the archive does not decode")
	}
	for i, entry := range entries {
		if i > 0 && bytes.Compare(entry.key, entries[i-1].key) <= 0 || !entry.fits(plan) {
			return 0, model.Refused("the content of the archive is not of the metric's archive policy: %s",
				KeyOf(entry.key))
		}
		known, err := engine.Get(c.store.reads(), entry.key)
		if err != nil {
			return 0, fmt.Errorf("archive: put content of %s: %w", metric, err)
		}
		if known == nil && bytes.Compare(entry.key, last) > 0 {
			c.Set(entry.key, entry.value)
			written++
			continue
		}
		if known != nil {
			known, err = contentValue(entry.key, known)
		}
		if err != nil || !bytes.Equal(known, entry.value) {
			return 0, model.Refused("metric %s has other measures: delete it first", metric)
		}
	}
	return written, nil
}

// lastContent returns the last key of a metric, nil for none.
func (s *Store) lastContent(metric uuid.UUID) (last []byte, err error) {
	lower, upper := MetricBounds(metric)
	iter, err := s.reads().NewIter(&pebble.IterOptions{LowerBound: lower, UpperBound: upper})
	if err != nil {
		return nil, err
	}
	if iter.Last() {
		last = slices.Clone(iter.Key())
	}
	return last, iter.Close()
}

type contentEntry struct{ key, value []byte }

// contentEntries decodes a part for a metric.
func contentEntries(metric uuid.UUID, part []byte) (entries []contentEntry, ok bool) {
	n := len(part) - 8
	if n < 1 || part[0] != contentFormat || xxhash.Sum64(part[:n]) != binary.BigEndian.Uint64(part[n:]) {
		return nil, false
	}
	for part = part[1:n]; len(part) > 0; {
		var fields [2][]byte
		for i := range fields {
			length, size := binary.Uvarint(part)
			if size <= 0 || length > uint64(len(part)-size) {
				return nil, false
			}
			fields[i], part = part[size:size+int(length)], part[size+int(length):]
		}
		key := append(metricKey(nil, metric, 0)[:kindOffset], fields[0]...)
		entries = append(entries, contentEntry{key, fields[1]})
	}
	return entries, true
}

// fits reports whether an entry decodes and is one that an archive of the plan may have.
func (e contentEntry) fits(plan *carbonara.Plan) bool {
	if len(e.key) <= kindOffset || len(e.value) == 0 {
		return false
	}
	intact, damaged := Verify(e.key, e.value)
	if len(damaged) > 0 || len(intact) != 1 || e.value[0] == listMark {
		return false
	}
	switch e.key[kindOffset] {
	case kindSplit:
		_, split, _ := parseSplitKey(e.key)
		return slices.Contains(plan.Granularities, split.Granularity) &&
			carbonara.SplitKeyOf(split.Start, split.Granularity) == split
	case kindRaw, kindPartial:
		return len(e.key) == kindOffset+1
	case kindCount:
		return len(e.key) == kindOffset+1 || IsLate(e.key)
	}
	return false
}
