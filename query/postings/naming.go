package postings

import (
	"cmp"
	"slices"
	"strings"

	"github.com/gnocco-db/gnocco/model"
)

// Labels as Ceilometer's exporter for Prometheus has them.
const (
	labelPublisher   = "publisher"
	labelType        = "type"
	labelCounter     = "counter"
	labelProject     = "project"
	labelProjectName = "project_name"
	labelUser        = "user"
	labelUserName    = "user_name"
	labelResource    = "resource"
	labelInstance    = "vm_instance"
	labelShownName   = "resource_name"
	labelGroup       = "server_group"

	meterPrefix  = "ceilometer_"
	ceilometer   = "ceilometer"
	withoutGroup = "none"
)

// ceilometerNames are the labels that no first word replaces.
var ceilometerNames = []string{labelName, labelPublisher, labelType, labelCounter, labelUnit, labelResource,
	labelProject, labelProjectName, labelUser, labelUserName, labelInstance, labelShownName, labelGroup}

// meter is what Ceilometer's exporter makes of a metric's name.
type meter struct {
	name symbol // of the series
	kind symbol // label "type": the second word, or the only one
	// first is a label that is called as the first word, unless another label is: the third word. 0: the ID of the
	// resource.
	first pair
}

// naming holds the symbols of Ceilometer's names; nil: series are called as Gnocchi calls metrics and attributes.
type naming struct {
	publisher, kind, counter, unit, resource symbol // names of labels
	ceilometer                               symbol // value of publisher
	meters                                   map[symbol]meter
	// byMetric holds the labels of which metrics of one resource may have different values.
	byMetric map[symbol]bool
}

func (s *state) useCeilometer() {
	n := &naming{publisher: s.intern(labelPublisher), kind: s.intern(labelType), counter: s.intern(labelCounter),
		unit: s.intern(labelUnit), resource: s.intern(labelResource), ceilometer: s.intern(ceilometer),
		meters: map[symbol]meter{}}
	n.byMetric = map[symbol]bool{n.publisher: true, n.kind: true, n.counter: true, n.unit: true}
	s.naming = n
}

// addMeter reads the name of a metric of a resource.
func (s *state) addMeter(name symbol) {
	if s.naming == nil || name == 0 {
		return
	}
	if _, ok := s.naming.meters[name]; ok {
		return
	}
	text := s.texts[name]
	shown := underscored(text)
	if !strings.HasPrefix(shown, meterPrefix) {
		shown = meterPrefix + shown
	}
	words := strings.Split(text, ".")
	made := meter{name: s.intern(shown), kind: s.intern(words[min(1, len(words)-1)])}
	if first := underscored(words[0]); first != "" && !slices.Contains(ceilometerNames, first) {
		made.first.name = s.intern(first)
		s.naming.byMetric[made.first.name] = true
	}
	if len(words) > 2 {
		made.first.value = s.intern(words[2])
	}
	s.naming.meters[name] = made
}

// underscored returns a text with _ for each character that Prometheus does not allow in names.
func underscored(text string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' {
			return r
		}
		return '_'
	}, text)
}

// meterOf returns what a metric's name means to Ceilometer; false: the series keeps Gnocchi's names. Only metrics of
// resources are Ceilometer's.
func (s *state) meterOf(m *metric) (meter, bool) {
	if s.naming == nil || m.resource == none {
		return meter{}, false
	}
	found, ok := s.naming.meters[m.name]
	return found, ok
}

// nameOf returns the name that results show.
func (s *state) nameOf(m *metric) symbol {
	if meter, ok := s.meterOf(m); ok {
		return meter.name
	}
	return m.name
}

// namesOf returns the names that selectors know a metric by.
func (s *state) namesOf(m *metric) []symbol {
	if shown := s.nameOf(m); shown != m.name {
		return []symbol{m.name, shown}
	}
	return []symbol{m.name}
}

// each calls f for the labels of a metric but for its name, first for the labels of its resource.
func (n *naming) each(s *state, m *metric, meter meter, f func(pair)) {
	resource := symbol(0)
	for _, label := range s.resources[m.resource].shown {
		if label.name == n.resource {
			resource = label.value
		}
		f(label)
	}
	f(pair{n.publisher, n.ceilometer})
	f(pair{n.kind, meter.kind})
	f(pair{n.counter, m.name})
	if m.unit != 0 {
		f(pair{n.unit, m.unit})
	}
	if meter.first.value != 0 {
		resource = meter.first.value
	}
	if meter.first.name != 0 {
		f(pair{meter.first.name, resource})
	}
}

// ceilometerLabels returns the labels that the metrics of a resource share, by Ceilometer's names.
func (s *state) ceilometerLabels(r *model.Resource) []pair {
	if s.naming == nil {
		return nil
	}
	attribute := func(name string) string {
		for _, a := range r.Attributes {
			if a.Name == name {
				return attributeText(a.Value)
			}
		}
		return ""
	}
	text := func(of *string) string {
		if of == nil {
			return ""
		}
		return *of
	}
	id, group := r.OriginalID, attribute(labelGroup)
	if id == "" {
		id = r.ID.String()
	}
	group = cmp.Or(group, withoutGroup)
	shownName := attribute("display_name")
	if name := attribute("name"); shownName == "" {
		shownName = name
	} else if name != "" {
		shownName += ":" + name
	}
	var shown []pair
	for _, label := range [][2]string{{labelResource, id}, {labelProject, text(r.ProjectID)},
		{labelProjectName, attribute(labelProjectName)}, {labelUser, text(r.UserID)},
		{labelUserName, attribute(labelUserName)}, {labelInstance, attribute("host")},
		{labelShownName, shownName},
		{labelGroup, group}} {
		if label[1] != "" {
			shown = append(shown, pair{s.intern(label[0]), s.intern(label[1])})
		}
	}
	return shown
}
