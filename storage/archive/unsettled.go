package archive

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/cespare/xxhash/v2"
	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/storage"
	"github.com/gnocco-db/gnocco/storage/engine"
)

// Unsettled are the latest measures of a metric where another incoming store may yet bring measures that were sent
// before them. Package metricd says what it does with them.
type Unsettled struct {
	Newest carbonara.Timestamp // of the settled measures; if Any
	Any    bool
	Runs   []Run
}

// Run is the measures of one request.
type Run struct {
	Source     string    // identity of the incoming store
	Clock      uuid.UUID // of the stamp
	At         int64     // stamp of the request
	Timestamps []carbonara.Timestamp
}

// unsettledVersion is the first byte of the value; docs/format/archive.md draws the rest.
const unsettledVersion = 1

var errUnsettled = fmt.Errorf("archive: unsettled measures: %w", storage.ErrCorrupt)

func appendUnsettled(dst []byte, u *Unsettled) []byte {
	from := len(dst)
	dst = append(dst, unsettledVersion)
	if u.Any {
		dst = binary.BigEndian.AppendUint64(append(dst, 1), uint64(u.Newest))
	} else {
		dst = append(dst, 0)
	}
	for _, r := range u.Runs {
		dst = append(binary.AppendUvarint(dst, uint64(len(r.Source))), r.Source...)
		dst = binary.BigEndian.AppendUint64(append(dst, r.Clock[:]...), uint64(r.At))
		dst = binary.AppendUvarint(dst, uint64(len(r.Timestamps)))
		before := carbonara.Timestamp(0)
		for _, t := range r.Timestamps {
			dst = binary.AppendVarint(dst, int64(t-before))
			before = t
		}
	}
	return binary.BigEndian.AppendUint64(dst, xxhash.Sum64(dst[from:]))
}

func decodeUnsettled(src []byte) (*Unsettled, error) {
	end := len(src) - 8
	if end < 2 || src[0] != unsettledVersion || src[1] > 1 ||
		xxhash.Sum64(src[:end]) != binary.BigEndian.Uint64(src[end:]) {
		return nil, errUnsettled
	}
	u := &Unsettled{Any: src[1] == 1}
	src = src[2:end]
	if u.Any {
		if len(src) < 8 {
			return nil, errUnsettled
		}
		if u.Newest = carbonara.Timestamp(binary.BigEndian.Uint64(src)); !u.Newest.Valid() {
			return nil, errUnsettled
		}
		src = src[8:]
	}
	for len(src) > 0 {
		var r Run
		var ok bool
		if r, src, ok = consumeRun(src); !ok {
			return nil, errUnsettled
		}
		u.Runs = append(u.Runs, r)
	}
	return u, nil
}

func consumeRun(src []byte) (r Run, rest []byte, ok bool) {
	n, size := binary.Uvarint(src)
	if size <= 0 || n > uint64(len(src)-size) {
		return r, nil, false
	}
	r.Source, src = string(src[size:size+int(n)]), src[size+int(n):]
	if len(src) < 16+8 {
		return r, nil, false
	}
	r.Clock, r.At, src = uuid.UUID(src[:16]), int64(binary.BigEndian.Uint64(src[16:])), src[16+8:]
	if n, size = binary.Uvarint(src); size <= 0 || n == 0 || n > uint64(len(src)-size) {
		return r, nil, false
	}
	src = src[size:]
	t := carbonara.Timestamp(0)
	for range n {
		step, size := binary.Varint(src)
		if size <= 0 || step > 0 && int64(t) > math.MaxInt64-step {
			return r, nil, false
		}
		if t += carbonara.Timestamp(step); !t.Valid() {
			return r, nil, false
		}
		r.Timestamps, src = append(r.Timestamps, t), src[size:]
	}
	return r, src, true
}

// KeepsUnsettled reports whether a metric of the store ever had unsettled measures. Where there is one incoming store
// only, none ever has.
func (s *Store) KeepsUnsettled() (bool, error) {
	value, err := engine.Get(s.db, unsettledKey)
	if err != nil {
		return false, fmt.Errorf("archive: %w", err)
	}
	return value != nil, nil
}

// Unsettled returns the unsettled measures of a metric, nil for none.
func (s *Store) Unsettled(metric uuid.UUID) (*Unsettled, error) {
	return valueOf(s, metric, kindUnsettled, "unsettled measures", decodeUnsettled)
}

// SetUnsettled replaces a metric's unsettled measures; nil removes them.
func (c *Checkpoint) SetUnsettled(metric uuid.UUID, u *Unsettled) {
	c.scratch = metricKey(c.scratch, metric, kindUnsettled)
	if u == nil {
		c.delete(c.scratch)
		return
	}
	c.changes.begin(setKey, c.scratch)
	c.changes.memory = appendUnsettled(c.changes.memory, u)
	c.changes.end()
}

// KeepUnsettled says in the store that metrics of it have unsettled measures.
func (c *Checkpoint) KeepUnsettled() { c.Set(unsettledKey, []byte{unsettledVersion}) }
