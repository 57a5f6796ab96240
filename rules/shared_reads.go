package rules

import (
	"context"
	"slices"
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

	mu    sync.Mutex
	found map[rawRead]*rawMeasures
	bytes int64
}

// mostShared bounds what is remembered, in bytes.
const mostShared = 64 << 20

type rawRead struct {
	metric   uuid.UUID
	from, to carbonara.Timestamp
}

// rawOf says what a read of raw measures asks for.
func rawOf(r *model.Read) (_ rawRead, ok bool) {
	ok = r.Granularity == 0 && len(r.Columns) == 1 && r.Columns[0] == carbonara.ColumnLast
	return rawRead{r.Metric.ID, r.From, r.To}, ok
}

type rawMeasures struct {
	starts []carbonara.Timestamp
	values []float64
	raw    carbonara.RawSpan
}

// forget is called when the sacks were asked for changes: those after that are noted for the next time.
func (s *sharedReads) forget() {
	s.memory.Close()
	s.found, s.bytes = map[rawRead]*rawMeasures{}, 0
}

// get returns what is known of reads, nil where nothing is.
func (s *sharedReads) get(reads []model.Read) []*rawMeasures {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := make([]*rawMeasures, len(reads))
	for i := range reads {
		if key, ok := rawOf(&reads[i]); ok && len(s.found) > 0 {
			all[i] = s.found[key]
		}
	}
	return all
}

// put remembers what was read.
func (s *sharedReads) put(reads []model.Read, all []*rawMeasures) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, m := range all {
		if m == nil {
			continue
		}
		bytes := int64(160 + 16*len(m.starts))
		if s.bytes += bytes; s.bytes > mostShared || s.memory.Acquire(budget.Answers, bytes) != nil {
			return
		}
		key, _ := rawOf(&reads[i])
		s.found[key] = m
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
	var fresh []*rawMeasures
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
		fresh = append(fresh[:0], make([]*rawMeasures, to-from)...)
		err := r.GroupReader.EachGroups(ctx, reads[from:to], staleness, dst, func(i int) error {
			if _, ok := rawOf(&reads[from+i]); ok && dst.SketchBytes() == 0 {
				fresh[i] = &rawMeasures{slices.Clone(dst.Starts), slices.Clone(dst.Values[0]), dst.Raw}
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
