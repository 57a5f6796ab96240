package postings

import "github.com/google/uuid"

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
