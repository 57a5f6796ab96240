package model

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/carbonara"
)

// Replacement takes the measures of metrics from a time on and before another one out of their archives, and puts
// others in their place. Without others it is a deletion, else a correction of one metric.
type Replacement struct {
	From   carbonara.Timestamp `json:"from"`
	To     carbonara.Timestamp `json:"to"`
	DryRun bool                `json:"dry_run,omitempty"` // only says what would be done

	// Timestamps, strictly ascending and within the range, and Values are what takes the place.
	Timestamps []carbonara.Timestamp `json:"-"`
	Values     []float64             `json:"-"`

	// Empty fills only the blocks, periods of the coarsest granularity, in which the one metric has nothing. From and
	// To do not count, and Groups, one for each of some granularities, may stand for the measures.
	Empty  bool         `json:"empty,omitempty"`
	Groups PlacedGroups `json:"groups,omitempty"`
}

// PlacedGroups are groups in place of measures. They keep their bits as JSON.
type PlacedGroups []carbonara.Groups

// placedJSON is groups of a granularity: columns as in splits; 8 bytes each start, then each value, column by column,
// big endian.
type placedJSON struct {
	Granularity time.Duration `json:"granularity"`
	Columns     []byte        `json:"columns"`
	Rows        []byte        `json:"rows"`
}

// MarshalJSON implements json.Marshaler.
func (p PlacedGroups) MarshalJSON() ([]byte, error) {
	all := make([]placedJSON, len(p))
	for i := range p {
		rows, _ := binary.Append(nil, binary.BigEndian, p[i].Starts) // a fixed size
		for _, values := range p[i].Values {
			rows, _ = binary.Append(rows, binary.BigEndian, values)
		}
		var columns []byte
		for _, c := range p[i].Columns {
			columns = c.Append(columns)
		}
		all[i] = placedJSON{p[i].Granularity, columns, rows}
	}
	return json.Marshal(all)
}

// UnmarshalJSON implements json.Unmarshaler.
func (p *PlacedGroups) UnmarshalJSON(text []byte) error {
	var all []placedJSON
	if err := json.Unmarshal(text, &all); err != nil {
		return err
	}
	*p = make(PlacedGroups, len(all))
	for i, one := range all {
		g := &(*p)[i]
		var columns []carbonara.Column
		for len(one.Columns) > 0 {
			var c carbonara.Column
			rest, ok := c.Consume(one.Columns)
			if !ok {
				return errors.New("columns do not decode")
			}
			columns, one.Columns = append(columns, c), rest
		}
		g.Reset(one.Granularity, columns)
		n := len(one.Rows) / 8 / (1 + len(columns))
		g.Starts = make([]carbonara.Timestamp, n)
		if _, err := binary.Decode(one.Rows, binary.BigEndian, g.Starts); err != nil {
			return err
		}
		for c := range g.Values {
			g.Values[c] = make([]float64, n)
			if _, err := binary.Decode(one.Rows[8*n*(1+c):], binary.BigEndian, g.Values[c]); err != nil {
				return err
			}
		}
	}
	return nil
}

// Rows returns how many measures, or groups, come in place.
func (r *Replacement) Rows() int {
	n := len(r.Timestamps)
	for i := range r.Groups {
		n += r.Groups[i].Len()
	}
	return n
}

// First returns the time of the first of them. There must be one.
func (r *Replacement) First() carbonara.Timestamp {
	first := carbonara.MaxTimestamp
	if len(r.Timestamps) > 0 {
		first = r.Timestamps[0]
	}
	for i := range r.Groups {
		if starts := r.Groups[i].Starts; len(starts) > 0 {
			first = min(first, starts[0])
		}
	}
	return first
}

// Last returns the time of the last of them, 0 for none.
func (r *Replacement) Last() (last carbonara.Timestamp) {
	if n := len(r.Timestamps); n > 0 {
		last = r.Timestamps[n-1]
	}
	for i := range r.Groups {
		if starts := r.Groups[i].Starts; len(starts) > 0 {
			last = max(last, starts[len(starts)-1])
		}
	}
	return last
}

// Before splits what comes in place at a time. rest is nil if nothing is left. They share the memory.
func (r *Replacement) Before(at carbonara.Timestamp) (some, rest *Replacement) {
	head, tail := *r, *r
	n, _ := slices.BinarySearch(r.Timestamps, at)
	head.Timestamps, tail.Timestamps = r.Timestamps[:n], r.Timestamps[n:]
	head.Values, tail.Values = r.Values[:n], r.Values[n:]
	head.Groups, tail.Groups = nil, nil
	for i := range r.Groups {
		g := &r.Groups[i]
		head.Groups = append(head.Groups, g.Slice(0, g.Search(at)))
		tail.Groups = append(tail.Groups, g.Slice(g.Search(at), g.Len()))
	}
	if tail.Rows() > 0 {
		rest = &tail
	}
	return &head, rest
}

// Replaced is what a replacement did in one or more archives.
type Replaced struct {
	Metrics  int   `json:"metrics"`  // that had any group in the range
	Before   int   `json:"before"`   // groups, of all granularities, that were removed or changed
	After    int   `json:"after"`    // groups in their place
	Measures int   `json:"measures"` // raw ones that were removed
	Bytes    int64 `json:"bytes"`    // of values that went, less those in their place
	// Lost are groups that had measures outside the range and were removed, because nothing tells those measures apart.
	// At most mostLost of them, of LostGroups.
	Lost       []LostGroup `json:"lost,omitempty"`
	LostGroups int         `json:"lost_groups"`
	Failed     int         `json:"failed"` // archives that stay as they are, because a part of them does not decode
	Fault      string      `json:"fault,omitempty"`

	// Put counts the measures, or groups, that came where nothing was. Known ones were there. Refused ones are of
	// blocks in which something else is, which start at RefusedBlocks.
	Put           int                   `json:"put,omitempty"`
	Known         int                   `json:"known,omitempty"`
	Refused       int                   `json:"refused,omitempty"`
	RefusedBlocks []carbonara.Timestamp `json:"refused_blocks,omitempty"`
}

// LostGroup is a group of a metric.
type LostGroup struct {
	Metric      uuid.UUID           `json:"metric"`
	Granularity time.Duration       `json:"granularity"`
	Start       carbonara.Timestamp `json:"start"`
}

// mostLost bounds the lost groups that are named.
const mostLost = 1000

// Add adds what was done in other archives.
func (r *Replaced) Add(other *Replaced) {
	r.Metrics += other.Metrics
	r.Before += other.Before
	r.After += other.After
	r.Measures += other.Measures
	r.Bytes += other.Bytes
	r.LostGroups += other.LostGroups
	r.Lost = append(r.Lost, other.Lost[:min(len(other.Lost), mostLost-len(r.Lost))]...)
	r.Put += other.Put
	r.Known += other.Known
	r.Refused += other.Refused
	r.RefusedBlocks = append(r.RefusedBlocks, other.RefusedBlocks...)
	if r.Failed += other.Failed; r.Fault == "" {
		r.Fault = other.Fault
	}
}
