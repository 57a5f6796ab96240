package archive

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/storage/engine"
)

// Schema lists the granularities of an archive and the columns of each, read from its newest splits. It is the schema
// of the policy by which the metric's last measures were processed.
type Schema []SchemaItem

// SchemaItem is a granularity of a schema.
type SchemaItem struct {
	Granularity time.Duration
	Columns     []carbonara.Column // ascending
}

// Of returns the item of a granularity, nil if the schema does not have it.
func (s Schema) Of(granularity time.Duration) *SchemaItem {
	for i := range s {
		if s[i].Granularity == granularity {
			return &s[i]
		}
	}
	return nil
}

// Matches reports whether a plan makes archives of this schema.
func (s Schema) Matches(plan *carbonara.Plan) bool {
	return len(s) == len(plan.Granularities) && !slices.ContainsFunc(s, func(item SchemaItem) bool {
		return !slices.Contains(plan.Granularities, item.Granularity) || !slices.Equal(item.Columns, plan.Columns)
	})
}

// Plan returns the plan that makes archives of this schema, which has a granularity.
func (s Schema) Plan() *carbonara.Plan {
	granularities := make([]time.Duration, len(s))
	for i, item := range s {
		granularities[i] = item.Granularity
	}
	return carbonara.PlanOf(granularities, s[0].Columns)
}

// Schema returns the schema of a metric's archive, granularities ascending; empty for a metric without aggregates. It
// takes a seek for each granularity. A newest split that does not decode is an error that wraps storage.ErrCorrupt.
func (s *Store) Schema(metric uuid.UUID) (schema Schema, err error) {
	lower := splitKey(nil, metric, 0, 0)
	upper := metricKey(nil, metric, kindSplit+1)
	iter, err := s.reads().NewIter(&pebble.IterOptions{LowerBound: lower, UpperBound: upper})
	if err != nil {
		return nil, fmt.Errorf("archive: schema of %s: %w", metric, err)
	}
	defer func() { err = errors.Join(err, iter.Close()) }()
	for valid := iter.Last(); valid; {
		_, key, ok := parseSplitKey(iter.Key())
		if !ok {
			valid = iter.Prev()
			continue
		}
		value, err := iter.ValueAndErr()
		if err != nil {
			return nil, fmt.Errorf("archive: schema of %s: %w", metric, err)
		}
		columns, _, err := columnsOf(value)
		if err != nil {
			return nil, fmt.Errorf("archive: schema of %s: split %v: %w", metric, key, err)
		}
		schema = append(schema, SchemaItem{key.Granularity, columns})
		valid = iter.SeekLT(splitKey(nil, metric, key.Granularity, 0))
	}
	slices.Reverse(schema)
	return schema, iter.Error()
}

// columnsOf returns the columns that a split's value has, of all its operands, and how many groups it has at most.
func columnsOf(value []byte) (columns []carbonara.Column, groups int, err error) {
	for _, operand := range appendOperands(nil, value) {
		var n int
		if columns, n, err = carbonara.AppendSplitColumns(columns, operand); err != nil {
			return nil, 0, err
		}
		groups += n
	}
	columns = slices.DeleteFunc(columns, isPartOfSum)
	slices.Sort(columns)
	return slices.Compact(columns), groups, nil
}

// isPartOfSum says whether a column is the mean, which splits have for the last bits of a sum.
func isPartOfSum(c carbonara.Column) bool { return c.Base() == carbonara.ColumnMean }

// EachSplit calls f with the splits of a metric at one granularity, in order of time, the columns that each has, and
// the most groups that it may have. A split that does not decode is an error that wraps storage.ErrCorrupt.
func (s *Store) EachSplit(metric uuid.UUID, granularity time.Duration,
	f func(key carbonara.SplitKey, columns []carbonara.Column, groups int) error) error {
	lower, upper := splitKey(nil, metric, granularity, 0), splitKey(nil, metric, granularity+1, 0)
	return engine.Each(s.reads(), lower, upper, func(of, value []byte) error {
		_, key, ok := parseSplitKey(of)
		if !ok {
			return nil
		}
		columns, groups, err := columnsOf(value)
		if err != nil {
			return fmt.Errorf("archive: split %v of %s: %w", key, metric, err)
		}
		return f(key, columns, groups)
	})
}

// ReplaceSplit replaces a split by these groups, which all lie in it, and their columns.
func (c *Checkpoint) ReplaceSplit(metric uuid.UUID, key carbonara.SplitKey, groups *carbonara.Groups) {
	if groups.Len() == 0 {
		c.delete(splitKey(nil, metric, key.Granularity, key.Start))
		return
	}
	c.groups += groups.Len()
	c.putSplit(setKey, metric, key, groups)
}

// DropGranularity removes all splits of a granularity; those put later stay.
func (c *Checkpoint) DropGranularity(metric uuid.UUID, granularity time.Duration) {
	c.changes.deleteRange(splitKey(nil, metric, granularity, 0), splitKey(nil, metric, granularity+1, 0))
}
