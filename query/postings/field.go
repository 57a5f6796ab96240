package postings

import (
	"github.com/google/uuid"
	"github.com/prometheus/prometheus/model/labels"

	"github.com/gnocco-db/gnocco/model"
)

// field is a label as a place where its value lies.
type field struct {
	kind fieldKind
	name symbol // of the label, which pushed series may have in any case; 0 if no resource has it
}

type fieldKind uint8

const (
	fieldName fieldKind = iota
	fieldMetricID
	fieldUnit
	fieldPolicy
	fieldAny
	fieldResourceID // this and what follows is the resource's
	fieldOriginal
	fieldLabel
)

func (f field) isID() bool { return f.kind == fieldMetricID || f.kind == fieldResourceID }

func (s *state) field(name string) field {
	symbol, _ := s.symbolOf(name)
	f := field{fieldLabel, symbol}
	switch name {
	case labelName:
		f.kind = fieldName
	case labelMetricID:
		f.kind = fieldMetricID
	case labelUnit:
		f.kind = fieldUnit
	case labelPolicy:
		f.kind = fieldPolicy
	case labelResourceID:
		f.kind = fieldResourceID
	case labelOriginalID:
		f.kind = fieldOriginal
	case LabelAny:
		f.kind = fieldAny
	}
	return f
}

// isByMetric reports whether metrics of one resource may have different values of a field.
func (s *state) isByMetric(f field) bool {
	return f.kind == fieldLabel && s.naming != nil && s.naming.byMetric[f.name]
}

// find returns the value of a label of a metric or its resource, 0 for none.
func (s *state) find(m *metric, name symbol) symbol {
	for label := range s.pairsOf(m) {
		if label.name == name {
			return label.value
		}
	}
	return 0
}

// original returns the original ID of a metric's resource, 0 for none.
func (s *state) original(m *metric) symbol {
	if m.resource == none {
		return 0
	}
	return s.resources[m.resource].original
}

// labelOf returns the value of a label that a metric has by its resource or by its name, 0 for none, and whether the
// metric was pushed with labels.
func (s *state) labelOf(m *metric, name symbol) (value symbol, pushed bool) {
	if name == 0 {
		return 0, m.pushed
	}
	if meter, ok := s.naming.meterOf(m); ok {
		s.naming.each(s, m, meter, func(label pair) {
			if label.name == name {
				value = label.value
			}
		})
		if value != 0 {
			return value, false
		}
	}
	return s.find(m, name), m.pushed
}

// value returns a metric's value of a field that is no ID.
func (s *state) value(m *metric, f field) symbol {
	if f.kind == fieldName {
		return s.naming.nameOf(m)
	}
	value, pushed := s.labelOf(m, f.name)
	if f.kind == fieldLabel || pushed && value != 0 {
		return value
	}
	switch f.kind {
	case fieldUnit:
		return m.unit
	case fieldPolicy:
		return m.policy
	case fieldAny:
		return 0
	}
	return s.original(m)
}

// id returns a metric's value of a field that is an ID, unless it has none, or a label that was pushed instead.
func (s *state) id(m *metric, f field) (uuid.UUID, bool) {
	switch value, pushed := s.labelOf(m, f.name); {
	case pushed && (value != 0 || f.kind == fieldResourceID):
		return uuid.Nil, false
	case f.kind == fieldMetricID:
		return m.id, true
	case m.resource == none:
		return uuid.Nil, false
	}
	return s.resources[m.resource].id, true
}

// text returns a metric's value of a field.
func (s *state) text(m *metric, f field) string {
	if !f.isID() {
		return s.texts[s.value(m, f)]
	}
	if id, ok := s.id(m, f); ok {
		return id.String()
	}
	value, _ := s.labelOf(m, f.name)
	return s.texts[value]
}

// labels returns what results show of a metric.
func (s *state) labels(m *metric, b *labels.ScratchBuilder) labels.Labels {
	s.compose(m, b)
	return b.Labels()
}

// compose gives b the labels that results show of a metric.
func (s *state) compose(m *metric, b *labels.ScratchBuilder) {
	b.Reset()
	if name := s.naming.nameOf(m); name != 0 {
		b.Add(labelName, s.texts[name])
	}
	add := func(label pair) {
		if label.name != s.pushed.part || s.pushed.part == 0 {
			b.Add(s.texts[label.name], s.texts[label.value])
		}
	}
	if meter, ok := s.naming.meterOf(m); ok {
		s.naming.each(s, m, meter, add)
	} else {
		switch {
		case m.pushed:
		case m.resource == none:
			b.Add(labelMetricID, m.id.String())
		default:
			b.Add(labelResourceID, s.resources[m.resource].id.String())
		}
		for label := range s.pairsOf(m) {
			add(label)
		}
	}
	b.Sort()
}

// withPart adds which part of a native histogram a metric is.
func (s *state) withPart(m *metric, shown labels.Labels) labels.Labels {
	if s.pushed.part == 0 || !m.pushed {
		return shown
	}
	if part := s.find(m, s.pushed.part); part != 0 {
		shown = labels.NewBuilder(shown).Set(model.LabelHistogram, s.texts[part]).Labels()
	}
	return shown
}

// withIDs adds to a metric's labels what tells where it is kept, and as what.
func (s *state) withIDs(m *metric, shown labels.Labels) labels.Labels {
	b := labels.NewBuilder(shown).Set(labelMetricID, m.id.String()).Set(labelPolicy, s.texts[m.policy])
	b.Set(labelMetricName, s.texts[m.name]).Set(labelMetricUnit, s.texts[m.unit]) // "" is no label
	if m.resource != none {
		r := &s.resources[m.resource]
		b.Set(labelResourceID, r.id.String()).Set(labelOriginalID, s.texts[r.original])
	}
	return s.withPart(m, b.Labels())
}
