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

// naming holds the symbols of Ceilometer's names; nil works: series are called as Gnocchi calls metrics and attributes.
type naming struct {
	publisher, kind, counter, unit, resource symbol // names of labels
	ceilometer                               symbol // value of publisher
	meters                                   map[symbol]meter
	// byMetric holds the labels of which metrics of one resource may have different values.
	byMetric map[symbol]bool
}

func newNaming(t *textTable) *naming {
	n := &naming{publisher: t.intern(labelPublisher), kind: t.intern(labelType), counter: t.intern(labelCounter),
		unit: t.intern(labelUnit), resource: t.intern(labelResource), ceilometer: t.intern(ceilometer),
		meters: map[symbol]meter{}}
	n.byMetric = map[symbol]bool{n.publisher: true, n.kind: true, n.counter: true, n.unit: true}
	return n
}

// add reads the name of a metric of a resource.
func (n *naming) add(t *textTable, name symbol) {
	if n == nil || name == 0 {
		return
	}
	if _, ok := n.meters[name]; ok {
		return
	}
	text := t.texts[name]
	shown := underscored(text)
	if !strings.HasPrefix(shown, meterPrefix) {
		shown = meterPrefix + shown
	}
	words := strings.Split(text, ".")
	made := meter{name: t.intern(shown), kind: t.intern(words[min(1, len(words)-1)])}
	if first := underscored(words[0]); first != "" && !slices.Contains(ceilometerNames, first) {
		made.first.name = t.intern(first)
		n.byMetric[made.first.name] = true
	}
	if len(words) > 2 {
		made.first.value = t.intern(words[2])
	}
	n.meters[name] = made
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
func (n *naming) meterOf(m *metric) (meter, bool) {
	if n == nil || m.resource == none {
		return meter{}, false
	}
	found, ok := n.meters[m.name]
	return found, ok
}

// nameOf returns the name that results show.
func (n *naming) nameOf(m *metric) symbol {
	if meter, ok := n.meterOf(m); ok {
		return meter.name
	}
	return m.name
}

// namesOf returns the names that selectors know a metric by.
func (n *naming) namesOf(m *metric) []symbol {
	if shown := n.nameOf(m); shown != m.name {
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

// labelsOf returns the labels that the metrics of a resource share, by Ceilometer's names.
func (n *naming) labelsOf(t *textTable, r *model.Resource) []pair {
	if n == nil {
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
	id, group := cmp.Or(r.OriginalID, r.ID.String()), cmp.Or(attribute(labelGroup), withoutGroup)
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
			shown = append(shown, pair{t.intern(label[0]), t.intern(label[1])})
		}
	}
	return shown
}
