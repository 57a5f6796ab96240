package search

import (
	"context"
	"slices"

	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/storage/index/records"
)

// NamedMetric is a metric of a resource.
type NamedMetric struct {
	Name int // index into Query.Names
	ID   uuid.UUID
}

// FindNamedMetrics returns the metrics that FindResources would add to the live resources of a query, which has Names,
// each once, in an order that stays while the index does. It views the resources instead of reading them, which halves
// the time where they are many. The query's Order, Limit and After are not used.
func (s *Resources) FindNamedMetrics(ctx context.Context, q Query) (found []NamedMetric, err error) {
	q.Order, q.Limit, q.After, q.History = nil, 0, nil, false
	err = s.search(q, func(search *search) error {
		search.named = &namedMetrics{}
		if err := search.run(ctx); err != nil {
			return err
		}
		found = search.named.listed()
		return search.addElsewhere(ctx, &found)
	})
	return found, err
}

// namedMetrics is what a search finds that is for metrics alone.
type namedMetrics struct {
	parts     []*namedPart
	elsewhere []*model.Resource // whose metrics have keys of their own; only the ID is set
}

// namedPart is what one goroutine finds: of resources whose IDs ascend, and lie in no other part's range.
type namedPart struct {
	first uuid.UUID // of the resources
	found []NamedMetric
}

// listed returns what the parts found, by resource.
func (n *namedMetrics) listed() []NamedMetric {
	slices.SortFunc(n.parts, func(a, b *namedPart) int { return model.CompareIDs(a.first, b.first) })
	var all []NamedMetric
	for _, part := range n.parts {
		all = append(all, part.found...)
	}
	return all
}

// addElsewhere appends the metrics of resources that do not list them.
func (s *search) addElsewhere(ctx context.Context, found *[]NamedMetric) error {
	resources, names := s.named.elsewhere, s.query.Names
	slices.SortFunc(resources, func(a, b *model.Resource) int { return model.CompareIDs(a.ID, b.ID) })
	if err := s.resources.table.AddNamedMetrics(ctx, resources, names); err != nil {
		return err
	}
	for _, r := range resources {
		for i, name := range names {
			if id, ok := r.Metrics[name]; ok {
				*found = append(*found, NamedMetric{i, id})
			}
		}
	}
	return nil
}

// showNamed takes the metrics of a resource that the filter matches.
func (s *search) showNamed(decoder *viewer, r *records.View) {
	if s.query.Visible != nil && !s.permits(r) {
		return
	}
	if r.Inline.Fields == nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.named.elsewhere = append(s.named.elsewhere, &model.Resource{ID: r.ID})
		return
	}
	if decoder.part == nil {
		decoder.part = &namedPart{first: r.ID}
		s.mu.Lock()
		s.named.parts = append(s.named.parts, decoder.part)
		s.mu.Unlock()
	}
	found, ok := appendNamed(decoder.part.found, r.Inline, s.query.Names)
	if !ok {
		s.resources.log.SkipCorrupt(records.ErrInline(r.ID))
		return
	}
	decoder.part.found = found
}

// permits calls Visible.
func (s *search) permits(r *records.View) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.query.Visible(&r.Resource)
}

// appendNamed appends the metrics of these names. ok is false for bytes that are no list.
func appendNamed(dst []NamedMetric, l records.InlineMetrics, names []string) (_ []NamedMetric, ok bool) {
	ok = l.Each(func(name []byte, id uuid.UUID) bool {
		if i := records.IndexOf(names, name); i >= 0 {
			dst = append(dst, NamedMetric{i, id})
		}
		return true
	})
	return dst, ok
}
