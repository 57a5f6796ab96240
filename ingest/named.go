package ingest

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/ingest/idset"
	"github.com/gnocco-db/gnocco/internal/budget"
	"github.com/gnocco-db/gnocco/internal/keyhash"
	"github.com/gnocco-db/gnocco/internal/replica"
	"github.com/gnocco-db/gnocco/internal/roster"
	"github.com/gnocco-db/gnocco/model"
)

// Rows are the measures of a request that names its metrics. A row is some measures of one metric; several rows may be
// of the same.
type Rows interface {
	// Len returns the number of rows.
	Len() int
	// Columns returns the measures of all rows.
	Columns() ([]carbonara.Timestamp, []float64)
	// Span returns which part of the columns belongs to a row.
	Span(row int) (from, to int)
	// AppendKey appends a key that only this metric has among those of the protocol, the user and the scope.
	AppendKey(dst []byte, row int) []byte
	// Name returns the metric that a row belongs to. AppendNamed returns its error, or drops the row with it.
	Name(row int) (*Name, error)
}

// ListedRows are Rows of which the sender names some together, again and again: the fields of a line. Such a list is
// found at once.
type ListedRows interface {
	Rows
	// ListEnd returns the row behind the list that begins with row.
	ListEnd(row int) int
	// AppendListKey appends a key of the rows of a list, which only these metrics have in this order.
	AppendListKey(dst []byte, row, end int) []byte
}

// A Name is a metric's, and its resource's.
type Name struct {
	Resource   string // original ID
	Metric     string
	Attributes map[string]string // of the resource, if it is to be created

	Labels   model.Labels // of a metric without a resource, and its key; only with Protocol.Labels
	replicas bool         // rows have replicas
}

// A Protocol says what to create for rows without a metric.
type Protocol struct {
	// Labels: rows name metrics by labels alone. Only Drop, which is given, and Kind count among the other fields.
	Labels bool
	// Replica returns labels without those that name a replica, and its number; nil: there are none.
	Replica func(labels model.Labels) (model.Labels, replica.Number)
	// Kind returns the type of a name by metadata, as model.TypeOfSeries asks; nil without metadata.
	Kind func(name string) string

	ResourceType string             // of new resources, and of those that exist
	AnyType      bool               // a resource that exists may have another type
	Attributes   []*model.Attribute // to create the type with; nil: it has to exist

	ArchivePolicy string // of new metrics; "": by the archive policy rules
	OwnMetrics    bool   // new metrics belong to the user; else to the creator of their resource

	// SameSeries reports whether two rows of a metric are of one series. Of several series only the last row's counts.
	// nil: all count.
	SameSeries func(row, other int) bool
	// MaxFuture is how far ahead of the clock measures may be; 0, or more than Options.MaxFuture: so far.
	MaxFuture time.Duration
	Scope     string // of the rows' keys: the same key means another metric in another scope

	// Drop is called for each row whose metric cannot be named or created, or that is too far ahead, if it is not nil:
	// the other rows are stored nevertheless.
	Drop func(row int, err error)
	// Replaced is called with the number of a row's measures that others of its request replace; nil: it is not.
	Replaced func(row, measures int)
	// Whole is asked once all rows that would be dropped or replaced are told, before anything is stored or created: if
	// false, nothing is. Only series have it. nil: the other rows are stored.
	Whole func() bool
}

// appendScope appends what stands before the keys of a request's rows.
func (p *Protocol) appendScope(dst []byte, user string) []byte {
	for _, part := range []string{p.ResourceType, user, p.Scope} {
		dst = append(append(dst, part...), 0)
	}
	return dst
}

// NamedBatch is a Batch for AppendNamed.
type NamedBatch struct {
	Batch
	key      []byte
	metrics  []*model.Metric  // of each row; nil: not found, or dropped
	replicas []replica.Number // of each row
	missing  []int            // rows whose metric was not found
	lists    []namedList      // of rows, that were not known, or not of late
	found    []foundName      // names whose metrics were looked up in the index

	places idset.Set // of metrics in Measures
	place  []int     // of each row; -1 for one that does not count
	last   []int     // row that counts, by place
}

// namedList is a list among the rows.
type namedList struct {
	hash     keyhash.Hash
	row, end int
}

// Bytes returns about how much memory the batch keeps.
func (b *NamedBatch) Bytes() int {
	return b.Batch.Bytes() + 8*(cap(b.metrics)+cap(b.missing)+cap(b.place)+cap(b.last)) +
		32*cap(b.lists) + 32*cap(b.found) + 2*cap(b.replicas) + b.places.Bytes()
}

// createdBytes is what the creation of a metric takes, with its resource.
const createdBytes = 2 << 10

// maxAttempts to find metrics that others create and delete at the same time.
const maxAttempts = 5

// AppendNamed makes the measures of rows durable, and creates resources and metrics that do not exist. If the user may
// not write to one of the metrics, or one cannot be created, it accepts nothing, unless the protocol drops such rows.
func (i *Ingester) AppendNamed(ctx context.Context, user string, rights Rights, rows Rows, p *Protocol,
	b *NamedBatch) error {
	now := i.Now()
	aheads, err := i.checkRows(rows, p, now)
	if err != nil {
		return err
	}
	ctx, cancel := i.limit(ctx)
	defer cancel()
	generation := i.Index.Generation()
	c := creation{Ingester: i, user: user, rights: rights, rows: rows, protocol: p}
	i.findKnown(&c, b, generation)
	b.leaveOut(aheads)
	if p.Whole != nil {
		if err := c.tryWhole(ctx, b); err != nil || !p.Whole() {
			return err
		}
	}
	for attempt := 1; len(b.missing) > 0; attempt++ {
		err := budget.Of(ctx).Acquire(budget.Measures, createdBytes*int64(len(b.missing)))
		if err != nil {
			return err
		}
		if attempt > maxAttempts {
			err = fmt.Errorf("ingest: metrics come and go: %w", model.ErrUnavailable)
		} else {
			err = c.createMissing(ctx, b)
		}
		if err != nil && (p.Drop == nil || p.Whole != nil) {
			return err
		}
		if err != nil {
			for _, row := range b.missing {
				p.Drop(row, err)
			}
			break
		}
	}
	i.known.add(b.found, generation)
	i.known.addLists(b.lists, b.metrics, generation)
	for _, metric := range b.metrics {
		if metric == nil { // dropped
			continue
		}
		if err := rights.PostMeasures(metric); err != nil {
			return err
		}
	}
	b.gather(rows, p.SameSeries)
	if p.Replaced != nil {
		b.findReplaced(rows, p.Replaced)
	}
	b.Project = model.ProjectOf(user)
	return i.Append(ctx, &b.Batch, now)
}

// findKnown looks up the metrics of all rows, and lists the rows whose metric is not known. It looks up again all that
// was found in an earlier generation of the index.
func (i *Ingester) findKnown(c *creation, b *NamedBatch, generation uint64) {
	b.metrics, b.missing, b.lists, b.found = b.metrics[:0], b.missing[:0], b.lists[:0], b.found[:0]
	b.key = c.protocol.appendScope(b.key[:0], c.user)
	scope := len(b.key)
	b.replicas = append(b.replicas[:0], make([]replica.Number, c.rows.Len())...)
	var lists ListedRows
	if c.protocol.Replica == nil { // lists are of metrics alone
		lists, _ = c.rows.(ListedRows)
	}
	i.known.mu.RLock()
	defer i.known.mu.RUnlock()
	place := -1
	for row := 0; row < c.rows.Len(); {
		end := row + 1
		if lists != nil {
			end = lists.ListEnd(row)
		}
		if end-row >= roster.MinListed {
			b.key = lists.AppendListKey(b.key[:scope], row, end)
			hash := keyhash.Of(b.key)
			metrics, current := i.known.lists.Get(hash, generation)
			if current {
				b.metrics = append(b.metrics, metrics...)
				row = end
				continue
			}
			b.lists = append(b.lists, namedList{hash, row, end})
			if metrics != nil {
				for _, metric := range metrics {
					b.setNext(i.current(metric))
				}
				row = end
				continue
			}
		}
		for ; row < end; row++ {
			b.key = c.rows.AppendKey(b.key[:scope], row)
			hash := keyhash.Of(b.key)
			if place = i.known.byName.Find(hash, place+1); place < 0 {
				b.setNext(nil)
				continue
			}
			known, current := i.known.byName.Get(place, generation)
			if !current {
				if known.metric = i.current(known.metric); known.metric != nil {
					b.found = append(b.found, foundName{hash, known})
				}
			}
			b.replicas[row] = known.replica
			b.setNext(known.metric)
		}
	}
}

// current returns the present state of a metric, nil if it has another name now, or is gone, or is nil.
func (i *Ingester) current(metric *model.Metric) *model.Metric {
	if metric == nil {
		return nil
	}
	if current := i.Index.Lookup(metric.ID); current != nil && sameName(metric, current) {
		return current
	}
	return nil
}

// setNext sets the metric of the next row, nil for none.
func (b *NamedBatch) setNext(metric *model.Metric) {
	if metric == nil {
		b.missing = append(b.missing, len(b.metrics))
	}
	b.metrics = append(b.metrics, metric)
}

// gather sets b.Measures to the measures of rows that have a metric, those of each metric side by side.
func (b *NamedBatch) gather(rows Rows, sameSeries func(row, other int) bool) {
	b.places.Reset(len(b.metrics))
	m := &b.Measures
	m.Reset()
	b.place, b.last = b.place[:0], b.last[:0]
	m.Offsets = append(m.Offsets, 0)
	for row, metric := range b.metrics {
		if metric == nil {
			b.place = append(b.place, -1)
			continue
		}
		last := len(m.Metrics)
		m.Metrics = append(m.Metrics, metric.ID)
		place := b.places.Add(m.Metrics)
		if m.Metrics = m.Metrics[:max(last, place+1)]; place == last {
			m.Offsets = append(m.Offsets, 0)
			b.last = append(b.last, row)
		}
		b.place, b.last[place] = append(b.place, place), row
	}
	for row, place := range b.place { // count
		if place < 0 {
			continue
		}
		if last := b.last[place]; sameSeries != nil && row != last && !sameSeries(row, last) {
			b.place[row] = -1
			continue
		}
		from, to := rows.Span(row)
		m.Offsets[place+1] += to - from
	}
	for i := range m.Metrics {
		m.Offsets[i+1] += m.Offsets[i]
	}
	n := m.Offsets[len(m.Metrics)]
	m.Timestamps = slices.Grow(m.Timestamps, n)[:n]
	m.Values = slices.Grow(m.Values, n)[:n]
	timestamps, values := rows.Columns()
	for row, place := range b.place { // and place: each metric's start moves to its end, the next one's start
		if place < 0 {
			continue
		}
		from, to := rows.Span(row)
		at := m.Offsets[place]
		copy(m.Timestamps[at:], timestamps[from:to])
		if b.metrics[row].Replicas {
			for k := at; k < at+to-from; k++ {
				m.Timestamps[k] = replica.Mark(m.Timestamps[k], b.replicas[row])
			}
		}
		copy(m.Values[at:], values[from:to])
		m.Offsets[place] = at + to - from
	}
	copy(m.Offsets[1:], m.Offsets[:len(m.Metrics)])
	m.Offsets[0] = 0
}

// findReplaced calls tell for rows that lose measures to later ones. Metrics with measures in order of time have none.
func (b *NamedBatch) findReplaced(rows Rows, tell func(row, measures int)) {
	m := &b.Measures
	odd := map[int]map[carbonara.Timestamp][2]uint64{} // by place; row and value
	for i := range m.Metrics {
		times := m.Timestamps[m.Offsets[i]:m.Offsets[i+1]]
		if !slices.IsSortedFunc(times, func(a, b carbonara.Timestamp) int { return cmp.Or(cmp.Compare(a, b), -1) }) {
			odd[i] = map[carbonara.Timestamp][2]uint64{}
		}
	}
	next, lost := map[int]int{}, map[int]int{}
	for row, i := range b.place {
		if odd[i] == nil {
			continue
		}
		from, to := rows.Span(row)
		for k := m.Offsets[i] + next[i]; from < to; from, k = from+1, k+1 {
			bits := math.Float64bits(m.Values[k])
			if before, found := odd[i][m.Timestamps[k]]; found && before[1] != bits {
				lost[int(before[0])]++
			}
			odd[i][m.Timestamps[k]] = [2]uint64{uint64(row), bits}
			next[i]++
		}
	}
	for _, row := range slices.Sorted(maps.Keys(lost)) {
		tell(row, lost[row])
	}
}
