package rules

import (
	"context"
	"sync"

	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/internal/budget"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/query"
)

// sharedReads are archives that remember raw measures: rules that are due together read the same ones.
type sharedReads struct {
	query.Archives
	memory *budget.Account

	mu    sync.RWMutex
	found map[rawSpan]map[uuid.UUID]*rawMeasures
	bytes int64
}

// mostShared bounds what is remembered, in bytes.
const mostShared = 64 << 20

type rawSpan struct{ from, to carbonara.Timestamp }

// isRaw reports whether a read asks for raw measures.
func isRaw(r *model.Read) bool {
	return r.Granularity == 0 && len(r.Columns) == 1 && r.Columns[0] == carbonara.ColumnLast
}

type rawMeasures struct {
	starts []carbonara.Timestamp
	values []float64
	raw    carbonara.RawSpan
}

// forget is called when the sacks were asked for changes: those after that are noted for the next time.
func (s *sharedReads) forget() {
	s.memory.Close()
	s.found, s.bytes = map[rawSpan]map[uuid.UUID]*rawMeasures{}, 0
}

// get returns what is known of reads, nil where nothing is.
func (s *sharedReads) get(reads []model.Read) []*rawMeasures {
	s.mu.RLock()
	defer s.mu.RUnlock()
	all := make([]*rawMeasures, len(reads))
	var span rawSpan // of most reads
	of := s.found[span]
	for i := range reads {
		r := &reads[i]
		if its := (rawSpan{r.From, r.To}); its != span {
			span, of = its, s.found[its]
		}
		if of != nil && isRaw(r) {
			all[i] = of[r.Metric.ID]
		}
	}
	return all
}

// put remembers what was read.
func (s *sharedReads) put(reads []model.Read, all []rawMeasures) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range all {
		r, m := &reads[i], &all[i]
		if m.starts == nil {
			continue
		}
		bytes := int64(160 + 16*len(m.starts))
		if s.bytes += bytes; s.bytes > mostShared || s.memory.Acquire(budget.Answers, bytes) != nil {
			return
		}
		span := rawSpan{r.From, r.To}
		if s.found[span] == nil {
			s.found[span] = map[uuid.UUID]*rawMeasures{}
		}
		s.found[span][r.Metric.ID] = m
	}
}

// Prefetch implements query.Archives.
func (s *sharedReads) Prefetch(ctx context.Context, reads []model.Read, staleness *query.Staleness) (
	query.GroupReader, error) {
	var rest []model.Read
	for i, known := range s.get(reads) {
		if known == nil {
			rest = append(rest, reads[i])
		}
	}
	inner, err := s.Archives.Prefetch(ctx, rest, staleness)
	return sharedReader{inner, s}, err
}

type sharedReader struct {
	query.GroupReader
	shared *sharedReads
}

// EachGroups implements query.GroupReader.
func (r sharedReader) EachGroups(ctx context.Context, reads []model.Read, staleness *query.Staleness,
	dst *carbonara.Groups, use func(i int) error) error {
	all := r.shared.get(reads)
	for from, to := 0, 0; from < len(reads); from = to {
		for to = from + 1; to < len(reads) && (all[to] == nil) == (all[from] == nil); to++ {
		}
		if m := all[from]; m != nil {
			dst.Reset(0, reads[from].Columns)
			to = from + 1
			if err := budget.Of(ctx).Acquire(budget.Answers, 16*int64(len(m.starts))); err != nil {
				return err
			}
			dst.Starts, dst.Values[0] = append(dst.Starts, m.starts...), append(dst.Values[0], m.values...)
			dst.Raw = m.raw
			if err := use(from); err != nil {
				return err
			}
			continue
		}
		fresh := make([]rawMeasures, to-from)
		starts, values := make([]carbonara.Timestamp, 0, 32*len(fresh)), make([]float64, 0, 32*len(fresh)) // of all
		err := r.GroupReader.EachGroups(ctx, reads[from:to], staleness, dst, func(i int) error {
			if isRaw(&reads[from+i]) && dst.SketchBytes() == 0 {
				n := len(starts)
				starts, values = append(starts, dst.Starts...), append(values, dst.Values[0]...)
				fresh[i] = rawMeasures{starts[n:len(starts):len(starts)], values[n:len(values):len(values)], dst.Raw}
			}
			return use(from + i)
		})
		if err != nil {
			return err
		}
		r.shared.put(reads[from:to], fresh)
	}
	return nil
}
