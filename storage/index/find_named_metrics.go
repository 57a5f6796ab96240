package index

import (
	"cmp"
	"context"
	"slices"

	"github.com/google/uuid"

	"gnocco/model"
)

// NamedMetric is a metric of a resource.
type NamedMetric struct {
	Name int // index into ResourceQuery.Names
	ID   uuid.UUID
}

// FindNamedMetrics returns the metrics that FindResources would add to the live resources of a query, which has Names,
// each once, by ID. The resources themselves are only looked at: of many, that is a half of what it takes to read them.
// The query's Order, Limit and After are not used.
func (s *Store) FindNamedMetrics(ctx context.Context, q ResourceQuery) ([]NamedMetric, error) {
	named := &namedMetrics{names: q.Names}
	q.Order, q.Limit, q.After, q.History = nil, 0, nil, false
	if err := s.search(ctx, q, func(search *resourceSearch) error {
		search.named = named
		if err := search.run(ctx); err != nil {
			return err
		}
		return s.addNamedMetrics(ctx, named.elsewhere, q.Names)
	}); err != nil {
		return nil, err
	}
	for _, r := range named.elsewhere {
		for i, name := range q.Names {
			if id, ok := r.Metrics[name]; ok {
				named.found = append(named.found, NamedMetric{i, id})
			}
		}
	}
	slices.SortFunc(named.found, func(a, b NamedMetric) int {
		return cmp.Or(compareIDs(a.ID, b.ID), cmp.Compare(a.Name, b.Name))
	})
	return named.found, nil
}

// namedMetrics is what a search finds that is for metrics alone.
type namedMetrics struct {
	names     []string
	found     []NamedMetric     // of resources that list them
	elsewhere []*model.Resource // whose metrics have keys of their own; nothing but the ID
}

// showNamed takes the metrics of a resource that the filter matches.
func (s *resourceSearch) showNamed(decoder *resourceDecoder, r *viewedResource) {
	ok := true
	if r.listed.fields != nil {
		decoder.named, ok = r.listed.appendNamed(decoder.named[:0], s.named.names)
	}
	if !ok {
		s.store.skipCorrupt(errList(r.ID))
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.query.Where != nil && !s.query.Where(&r.Resource):
	case r.listed.fields != nil:
		s.named.found = append(s.named.found, decoder.named...)
	default:
		s.named.elsewhere = append(s.named.elsewhere, &model.Resource{ID: r.ID})
	}
}

// appendNamed appends the metrics of these names. ok is false for bytes that are no list.
func (l listedMetrics) appendNamed(dst []NamedMetric, names []string) (_ []NamedMetric, ok bool) {
	ok = l.each(func(name []byte, id uuid.UUID) bool {
		if i := indexOf(names, name); i >= 0 {
			dst = append(dst, NamedMetric{i, id})
		}
		return true
	})
	return dst, ok
}
