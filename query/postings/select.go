package postings

import (
	"context"
	"encoding/hex"
	"slices"
	"strings"

	"github.com/google/uuid"
	"github.com/prometheus/prometheus/model/labels"

	"github.com/gnocco-db/gnocco/internal/budget"
	"github.com/gnocco-db/gnocco/model"
)

// Series is a metric and the labels that results show of it.
type Series struct {
	Metric *model.Metric
	Labels labels.Labels
}

// Select returns the series that all matchers match and sees lets through, in no order.
func (c *Catalog) Select(ctx context.Context, sees Sees, matchers ...*labels.Matcher) ([]Series, error) {
	var found []Series
	var ids []uuid.UUID
	err := c.view(ctx, func(s *state) error {
		var builder labels.ScratchBuilder
		return s.each(ctx, sees, matchers, seriesBytes, func(place uint32) error {
			ids = append(ids, s.metrics[place].id)
			m := &s.metrics[place]
			found = append(found, Series{Labels: s.withPart(m, s.labels(m, &builder))})
			return nil
		})
	})
	if err != nil {
		return nil, err
	}
	metrics := make([]*model.Metric, len(ids))
	if err := c.index.Find(ctx, ids, metrics); err != nil {
		return nil, err
	}
	kept := 0
	for i, m := range metrics {
		if m != nil { // not deleted meanwhile
			found[kept] = Series{m, found[i].Labels}
			kept++
		}
	}
	return found[:kept], nil
}

// Labels returns the label sets of the series that match at least one list of matchers, without duplicates, as many as
// limit (0: all). ids adds what only matchers know otherwise: metric_id, metric_name, metric_unit and archive_policy,
// resource_id and original_resource_id, and the part of a native histogram that stands for it.
func (c *Catalog) Labels(ctx context.Context, sees Sees, limit int, ids bool,
	lists ...[]*labels.Matcher) ([]labels.Labels, error) {
	var found []labels.Labels
	err := c.view(ctx, func(s *state) error {
		var builder labels.ScratchBuilder
		places, err := s.union(ctx, sees, labelBytes, limit, lists)
		for _, place := range places {
			shown := s.labels(&s.metrics[place], &builder)
			if ids {
				shown = s.withIDs(&s.metrics[place], shown)
			}
			found = append(found, shown)
		}
		return err
	})
	return found, err
}

// Names returns the names of the labels that the series have which match at least one list, ascending.
func (c *Catalog) Names(ctx context.Context, sees Sees, lists ...[]*labels.Matcher) ([]string, error) {
	var names []string
	err := c.view(ctx, func(s *state) error {
		places, err := s.union(ctx, sees, listBytes, 0, lists)
		known := make([]bool, len(s.texts))
		seen := make([]bool, len(s.resources))
		var name, metricID, resourceID bool
		for _, place := range places {
			m := &s.metrics[place]
			name = name || m.name != 0
			metricID = metricID || m.resource == none && !m.pushed
			if meter, ok := s.naming.meterOf(m); ok {
				s.naming.each(s, m, meter, func(label pair) { known[label.name] = true })
			} else if m.resource == none || !seen[m.resource] {
				if m.resource != none {
					seen[m.resource], resourceID = true, true
				}
				for label := range s.pairsOf(m) {
					known[label.name] = true
				}
			}
		}
		if s.pushed.part != 0 {
			known[s.pushed.part] = false
		}
		for text, has := range map[string]bool{labelName: name, labelMetricID: metricID, labelResourceID: resourceID} {
			if has {
				names = append(names, text)
			}
		}
		for at, has := range known {
			if has {
				names = append(names, s.texts[at])
			}
		}
		return err
	})
	slices.Sort(names)
	return slices.Compact(names), err
}

// Values returns the values of a label of the series that match at least one list, ascending. Labels that only matchers
// know also have values.
func (c *Catalog) Values(ctx context.Context, sees Sees, name string, lists ...[]*labels.Matcher) ([]string, error) {
	var values []string
	var ids []uuid.UUID
	err := c.view(ctx, func(s *state) (err error) {
		f := s.field(name)
		if len(lists) == 0 && sees == nil && s.naming == nil && (f.kind == fieldName || f.kind == fieldLabel) {
			values, err = s.allValues(ctx, f)
			return err
		}
		places, err := s.union(ctx, sees, listBytes, 0, lists)
		seen := make([]bool, len(s.texts))
		resources := make([]bool, len(s.resources))
		for _, place := range places {
			m := &s.metrics[place]
			if f.kind >= fieldResourceID && !s.isByMetric(f) {
				if m.resource == none && !m.pushed || m.resource != none && resources[m.resource] {
					continue
				}
				if m.resource != none {
					resources[m.resource] = true
				}
			}
			if f.isID() {
				if id, ok := s.id(m, f); ok {
					ids = append(ids, id)
				} else if value := s.text(m, f); value != "" {
					values = append(values, value)
				}
				continue
			}
			if value := s.value(m, f); value != 0 && !seen[value] {
				seen[value] = true
				values = append(values, s.texts[value])
			}
		}
		return err
	})
	// IDs sort as their texts do, and faster.
	slices.SortFunc(ids, model.CompareIDs)
	pushed := len(values)
	values = appendTexts(values, ids)
	if pushed > 0 || len(ids) == 0 {
		slices.Sort(values)
		values = slices.Compact(values)
	}
	return values, err
}

// allValues returns the values of names or of a label that some metrics have.
func (s *state) allValues(ctx context.Context, f field) (values []string, err error) {
	account, twice := budget.Of(ctx), len(s.values[f.name]) > 0
	for value := range s.valuesOf(f) {
		if value == 0 || !s.hasMetrics(f, value) {
			continue
		}
		if len(values)%1024 == 0 {
			if err := account.Acquire(budget.Answers, 1024*listBytes); err != nil {
				return nil, err
			}
		}
		values = append(values, s.texts[value])
	}
	if slices.Sort(values); twice {
		values = slices.Compact(values)
	}
	return values, nil
}

// Kinds returns, for each name that results show, metrics that differ in name, unit or type that was set. Of pushed
// ones it is the only label.
func (c *Catalog) Kinds(ctx context.Context, sees Sees) (map[string][]model.Metric, error) {
	found := map[string][]model.Metric{}
	err := c.view(ctx, func(s *state) error {
		return s.each(ctx, sees, nil, listBytes, func(place uint32) error {
			m := &s.metrics[place]
			name := s.texts[s.naming.nameOf(m)]
			if name == "" || s.pushed.part != 0 && s.isLaterPart(m) {
				return nil
			}
			kind := model.Metric{Name: s.texts[m.name], Unit: s.texts[m.unit], Type: kinds[m.kind]}
			if m.pushed {
				var text []byte
				if part := s.find(m, s.pushed.part); s.pushed.part != 0 && part != 0 {
					text = model.AppendLabel(text, model.LabelHistogram, s.texts[part])
				}
				kind.Labels = model.Labels(model.AppendLabel(text, model.LabelName, name))
			}
			if !slices.Contains(found[name], kind) {
				found[name] = append(found[name], kind)
			}
			return nil
		})
	})
	return found, err
}

// appendTexts appends IDs as texts.
func appendTexts(dst []string, ids []uuid.UUID) []string {
	const length = len("00000000-0000-0000-0000-000000000000")
	var all strings.Builder // one piece of memory for all
	all.Grow(length * len(ids))
	var text [length]byte
	for _, id := range ids {
		hex.Encode(text[:], id[:4])
		for i, at := range [...]int{9, 14, 19, 24} {
			text[at-1] = '-'
			from := 4 + 2*i
			to := from + 2
			if i == 3 {
				to = len(id)
			}
			hex.Encode(text[at:], id[from:to])
		}
		all.Write(text[:])
	}
	dst = slices.Grow(dst, len(ids))
	for i := range ids {
		dst = append(dst, all.String()[i*length:(i+1)*length])
	}
	return dst
}
