package csvimport

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/tsdb/chunkenc"
	"github.com/prometheus/prometheus/tsdb/chunks"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/model"
)

// Blocks that Thanos downsampled have aggregates in place of samples. A chunk of encoding 0xff has five parts, each a
// length (uvarint, 0 for a part that is not there), the encoding of a chunk (1 byte) and its data: count, sum, min, max
// and counter. The first four have a sample for each group, at its end or its last sample. The counter has the first
// sample as it was, then for each group the sum of all increases since, on top of that sample, and at the end the last
// sample as it was.
const (
	partCount = iota
	partSum
	partMin
	partMax
	partCounter
	aggregateParts

	aggregateEncoding chunkenc.Encoding = 0xff
)

// aggregatesOf says where the aggregates of a metric are.
type aggregatesOf struct {
	*block
	ref storage.SeriesRef
}

// chunkPool also makes chunks of aggregates.
type chunkPool struct{ chunkenc.Pool }

func (p chunkPool) Get(e chunkenc.Encoding, data []byte) (chunkenc.Chunk, error) {
	if e == aggregateEncoding {
		return aggregateChunk{data: data}, nil
	}
	return p.Pool.Get(e, data)
}

// aggregateChunk is nothing but its data.
type aggregateChunk struct {
	chunkenc.Chunk
	data []byte
}

// part returns the samples of one part. ok is false if they are native histograms.
func (c *aggregateChunk) part(number int) (samples []timedValue, ok bool, err error) {
	rest := c.data
	for i := 0; ; i++ {
		length, size := binary.Uvarint(rest)
		if size <= 0 || length > 0 && length >= uint64(len(rest)-size) {
			return nil, false, fmt.Errorf("part %d of a chunk of aggregates does not decode", i)
		}
		part := rest[size:]
		if length == 0 {
			part = nil
		} else {
			part = part[:length+1]
		}
		if rest = rest[size+len(part):]; i < number {
			continue
		}
		if part == nil {
			return nil, true, nil
		}
		chunk, err := chunkenc.FromData(chunkenc.Encoding(part[0]), part[1:])
		if err != nil {
			return nil, false, err
		}
		return valuesOf(chunk)
	}
}

type timedValue struct {
	ms    int64
	value float64
}

func valuesOf(chunk chunkenc.Chunk) (values []timedValue, ok bool, err error) {
	samples := chunk.Iterator(nil)
	for kind := samples.Next(); kind != chunkenc.ValNone; kind = samples.Next() {
		if kind != chunkenc.ValFloat {
			return nil, false, nil
		}
		ms, v := samples.At()
		values = append(values, timedValue{ms, v})
	}
	return values, true, samples.Err()
}

// aggregate is one group of a block.
type aggregate struct {
	ms                      int64
	count, sum, min, max    float64
	m2, first, last, resets float64
	resetSum                float64
}

// aggregateColumns are those of aggregate, without its time.
var aggregateColumns = []carbonara.Column{carbonara.ColumnCount, carbonara.ColumnSum, carbonara.ColumnMin,
	carbonara.ColumnMax, carbonara.ColumnM2, carbonara.ColumnFirst, carbonara.ColumnLast, carbonara.ColumnResets,
	carbonara.ColumnResetSum}

func newAggregate(ms int64, count float64) aggregate {
	no := carbonara.Absent()
	return aggregate{ms, count, no, no, no, no, no, no, no, no}
}

// groups returns a metric's groups in its block.
func (a *aggregatesOf) groups(m *metric, grows bool) (out carbonara.Groups, err error) {
	var builder labels.ScratchBuilder
	var metas []chunks.Meta
	if err := a.index.Series(a.ref, &builder, &metas); err != nil {
		return out, err
	}
	deleted, err := a.deleted.Get(a.ref)
	if err != nil {
		return out, err
	}
	var rows []aggregate
	for _, meta := range metas {
		chunk, _, err := a.chunks.ChunkOrIterable(meta)
		if err == nil {
			var more []aggregate
			more, err = a.rows(chunk, grows)
			rows = append(rows, more...)
		}
		if err != nil {
			return out, err
		}
	}
	rows = slices.DeleteFunc(rows, func(row aggregate) bool {
		if !(row.count > 0) || isDeleted(deleted, row.ms) {
			return true
		}
		_, ok := a.timeOf(a.folder, m.seriesName, row.ms)
		return !ok
	})
	slices.SortStableFunc(rows, func(a, b aggregate) int { return cmp.Compare(a.ms, b.ms) })
	rows = slices.CompactFunc(rows, func(a, b aggregate) bool { return a.ms == b.ms })
	var each carbonara.Groups
	each.Reset(time.Millisecond, aggregateColumns)
	for i := range rows {
		row := &rows[i]
		each.Starts = append(each.Starts, carbonara.Timestamp(row.ms)*1e6)
		for c, v := range [...]float64{row.count, row.sum, row.min, row.max, row.m2, row.first, row.last, row.resets,
			row.resetSum} {
			each.Values[c] = append(each.Values[c], v)
		}
	}
	// A group may begin in one chunk and end in the next one.
	return out, carbonara.Coarsen(&out, &each, a.resolution)
}

// rows returns the groups of a chunk. Samples among aggregates are groups of one.
func (a *aggregatesOf) rows(chunk chunkenc.Chunk, grows bool) (rows []aggregate, err error) {
	c, isAggregates := chunk.(aggregateChunk)
	var parts [aggregateParts][]timedValue
	for i := range parts {
		var ok bool
		if !isAggregates {
			parts[i], ok, err = valuesOf(chunk)
		} else {
			parts[i], ok, err = c.part(i)
		}
		if err != nil {
			return nil, err
		}
		if !ok {
			a.leftOut += max(len(parts[partCount]), 1)
			return nil, nil
		}
	}
	for i, one := range parts[partCount] {
		if !isAggregates {
			one.value = 1
		}
		row := newAggregate(one.ms, one.value)
		for part, to := range map[int]*float64{partSum: &row.sum, partMin: &row.min, partMax: &row.max} {
			if i < len(parts[part]) && parts[part][i].ms == one.ms {
				*to = parts[part][i].value
			}
		}
		if row.min == row.max {
			row.m2, row.first, row.last, row.resets, row.resetSum = 0, row.min, row.min, 0, 0
		}
		rows = append(rows, row)
	}
	if counter := parts[partCounter]; grows && isAggregates && len(counter) == len(rows)+2 && len(rows) > 0 {
		tellCounter(rows, counter)
	}
	return rows, nil
}

// tellCounter sets what a chunk tells of a counter. Increases are exact. A group without a reset has its first and last
// measure at its bounds, and another group may go on from the last one.
func tellCounter(rows []aggregate, counter []timedValue) {
	total, last := func(i int) float64 { return counter[i+1].value }, counter[len(counter)-1].value
	// From the end on: a group without a reset rises to its maximum, by the difference of totals.
	lasts := make([]float64, len(rows))
	for i := len(rows) - 1; i >= 0; i-- {
		lasts[i] = last
		if i == 0 {
			break
		}
		before := &rows[i-1]
		if last = rows[i].max - (total(i) - total(i-1)); isNear(last, before.max, total(i)) {
			last = before.max
		}
		if last > rows[i].min || last < before.min || last > before.max || before.min == before.max {
			last = before.max // it is told, or one below which the counter was reset
		}
	}
	previous, base := counter[0].value, counter[0].value
	for i := range rows {
		row, gained := &rows[i], total(i)-base
		switch {
		case row.min == row.max: // tells itself
		case row.min >= previous && isNear(row.max-previous, gained, total(i)):
			row.first, row.last, row.resets, row.resetSum = row.min, row.max, 0, 0
		default:
			row.first, row.last, row.resets = previous, lasts[i], 1
			row.resetSum = gained - (row.last - row.first)
		}
		previous, base = row.last, total(i)
	}
}

// isNear reports whether two differences of a counter are the same, but for rounding.
func isNear(a, b, counter float64) bool { return math.Abs(a-b) <= 1e-9*math.Abs(counter) }

// merged returns all groups of both; of two with the same start that of more measures, or a's.
func merged(a, b *carbonara.Groups) (out carbonara.Groups) {
	out.Reset(a.Granularity, a.Columns)
	count := func(g *carbonara.Groups, i int) float64 { return g.Column(carbonara.ColumnCount)[i] }
	for i, j := 0, 0; i < a.Len() || j < b.Len(); {
		switch {
		case j == b.Len() || i < a.Len() && a.Starts[i] < b.Starts[j]:
			out.AppendRows(a, i, i+1)
			i++
		case i == a.Len() || b.Starts[j] < a.Starts[i]:
			out.AppendRows(b, j, j+1)
			j++
		case count(b, j) > count(a, i):
			i++
		default:
			j++
		}
	}
	return out
}

// allGroups returns the groups of a metric in all blocks, by the granularities of its archive policy that are made of
// them.
func (i *Importer) allGroups(m *metric) (all []carbonara.Groups, err error) {
	plan, err := m.plan()
	if err != nil {
		return nil, err
	}
	grows := model.TypeOfSeries(m.name, nil).Grows() || slices.Contains(plan.Columns, carbonara.ColumnResets)
	found := make(map[time.Duration]*carbonara.Groups)
	for k := range m.aggregates {
		of := &m.aggregates[k]
		groups, err := of.groups(m, grows)
		if err != nil {
			return nil, refusal("%s: series %s: %w", of.folder, m, err)
		}
		if had := found[of.resolution]; had != nil {
			groups = merged(had, &groups)
		}
		found[of.resolution] = &groups
	}
	for _, item := range m.archive.items {
		var out carbonara.Groups
		out.Reset(item.granularity, plan.Columns)
		for _, resolution := range slices.Sorted(maps.Keys(found)) {
			if item.granularity%resolution != 0 {
				continue
			}
			var wide carbonara.Groups
			if err := carbonara.Coarsen(&wide, found[resolution], item.granularity); err != nil {
				return nil, err
			}
			out = merged(&out, &wide)
		}
		out.Delete(0, out.Search(item.from(m.newest)))
		tellEqual(&out)
		out.Infer()
		if out.Len() > 0 {
			all = append(all, out)
		}
	}
	return all, nil
}

// tellEqual fills in the percentiles of groups whose measures are all equal.
func tellEqual(g *carbonara.Groups) {
	least, most := g.Column(carbonara.ColumnMin), g.Column(carbonara.ColumnMax)
	if least == nil || most == nil {
		return
	}
	for c, column := range g.Columns {
		for row := range g.Starts {
			if column.Percentile() > 0 && !column.IsRate() && least[row] == most[row] {
				g.Values[c][row] = least[row]
			}
		}
	}
}
