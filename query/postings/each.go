package postings

import (
	"context"

	"github.com/google/uuid"
	"github.com/prometheus/prometheus/model/labels"
)

// Found is a series that Each shows. It is valid until the function that it is given to returns.
type Found struct {
	state   *state
	metric  *metric
	builder labels.ScratchBuilder
}

// ID returns the metric's ID.
func (f *Found) ID() uuid.UUID { return f.metric.id }

// Policy returns the name of the metric's archive policy.
func (f *Found) Policy() string { return f.state.texts[f.metric.policy] }

// Pushed reports whether the series was pushed with labels.
func (f *Found) Pushed() bool { return f.metric.pushed }

// Name returns the name that results show.
func (f *Found) Name() string { return f.state.texts[f.state.naming.nameOf(f.metric)] }

// Has reports whether the series was pushed with a label, or its resource has it.
func (f *Found) Has(label string) bool {
	name, ok := f.state.symbolOf(label)
	return ok && f.state.find(f.metric, name) != 0
}

// Part returns which part of a native histogram the series is, "" for none. Labels are without it.
func (f *Found) Part() string {
	if f.state.pushed.part == 0 || !f.metric.pushed {
		return ""
	}
	return f.state.texts[f.state.find(f.metric, f.state.pushed.part)]
}

// Labels returns the labels that results show.
func (f *Found) Labels() labels.Labels {
	f.state.compose(f.metric, &f.builder)
	return f.builder.Labels()
}

// OverwriteLabels is Labels in the memory of dst.
func (f *Found) OverwriteLabels(dst *labels.Labels) {
	f.state.compose(f.metric, &f.builder)
	f.builder.Overwrite(dst)
}

// Each calls f for the series that all matchers match and sees lets through, in no order, until it fails. Each takes so
// many bytes of the memory that requests share. Distinct says that no two of them have the same labels. Without it two
// may.
func (c *Catalog) Each(ctx context.Context, sees Sees, bytes int64, matchers []*labels.Matcher,
	f func(*Found) error) (distinct bool, err error) {
	err = c.view(ctx, func(s *state) error {
		found, pushed, others := Found{state: s}, false, false
		var creator symbol
		distinct = s.naming == nil
		return s.each(ctx, sees, matchers, bytes, func(place uint32) error {
			m := &s.metrics[place]
			// Series of one creator differ, and so do metrics of resources: a resource's ID is a label.
			distinct = distinct && (!pushed || !m.pushed || m.creator == creator)
			pushed, others, creator = pushed || m.pushed, others || !m.pushed, m.creator
			distinct = distinct && pushed != others
			found.metric = m
			return f(&found)
		})
	})
	return distinct, err
}

// Candidate is what an access rule may ask of a series.
type Candidate struct {
	state *state
	place uint32
}

// Creator returns who made the metric.
func (c Candidate) Creator() string { return c.state.texts[c.state.metrics[c.place].creator] }

// Metric returns the metric's ID.
func (c Candidate) Metric() uuid.UUID { return c.state.metrics[c.place].id }

// Name returns the metric's name.
func (c Candidate) Name() string { return c.state.texts[c.state.metrics[c.place].name] }

// Unit returns the metric's unit.
func (c Candidate) Unit() string { return c.state.texts[c.state.metrics[c.place].unit] }

// ArchivePolicy returns the name of the metric's policy.
func (c Candidate) ArchivePolicy() string { return c.state.texts[c.state.metrics[c.place].policy] }

// Resource returns the ID and the creator of the metric's resource, and whether it has one.
func (c Candidate) Resource() (id uuid.UUID, creator string, ok bool) {
	place := c.state.metrics[c.place].resource
	if place == none {
		return id, "", false
	}
	r := &c.state.resources[place]
	return r.id, c.state.texts[r.creator], true
}

// Attribute returns an attribute of the metric's resource as text, "" for none: also its type, original_resource_id,
// project_id or user_id.
func (c Candidate) Attribute(name string) string {
	m := &c.state.metrics[c.place]
	if m.resource == none && !m.pushed {
		return ""
	}
	switch name {
	case labelOriginalID:
		return c.state.texts[c.state.original(m)]
	case "type":
		name = labelResourceType
	default:
		name = attributeLabel(name)
	}
	symbol, ok := c.state.symbolOf(name)
	if !ok {
		return ""
	}
	return c.state.texts[c.state.find(m, symbol)]
}

// Sees reports whether somebody sees a series. nil: all of them. It is for one goroutine.
type Sees func(Candidate) bool
