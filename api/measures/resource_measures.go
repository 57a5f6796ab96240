package measures

import (
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/model"
)

// ResourceMeasures are the measures of a request that names metrics by resource and name. The measures of Names[i] are
// those of Measures.Metrics[i], which is uuid.Nil until the caller has looked the metric up.
type ResourceMeasures struct {
	Names    []ResourceMetric
	Measures model.Measures
}

// ResourceMetric names a metric within a resource, and says how to create it if need be.
type ResourceMetric struct {
	Resource          string // as in the body: a UUID or what becomes one
	Name              string
	ArchivePolicyName string // "" if not given
	Unit              string // "" if not given
}

// Reset empties m, keeping its memory.
func (m *ResourceMeasures) Reset() {
	m.Names = m.Names[:0]
	m.Measures.Reset()
}

// DecodeResources decodes the body of POST /v1/batch/resources/metrics/measures into dst, which it resets: by resource
// and by name of metric a list of measures, or an object with "measures" and perhaps "archive_policy_name" and "unit".
// Two texts may yet denote the same resource. An error is a *DecodeError, and dst is empty then.
func (d *Decoder) DecodeResources(body []byte, now carbonara.Timestamp, dst *ResourceMeasures) error {
	dst.Reset()
	grow(&dst.Measures, body)
	if err := d.decodeResources(body, now, dst); err != nil {
		dst.Reset()
		return err
	}
	return nil
}

func (d *Decoder) decodeResources(body []byte, now carbonara.Timestamp, dst *ResourceMeasures) error {
	defer d.doc.forget()
	if err := d.doc.parse(body, now, &dst.Measures, d.Acquire); err != nil {
		return err
	}
	if d.doc.nodes[0].kind != objectNode {
		return &DecodeError{Reason: "expected a dictionary"}
	}
	m := &dst.Measures
	var lists []list
	for _, resource := range d.doc.members(0) {
		if strings.Contains(resource.key, "/") { // no resource can have that ID
			e := (&DecodeError{}).inDictionary(resource.key)
			e.Reason = "extra keys not allowed @ data" + pathText(e.Path)
			return e
		}
		if d.doc.nodes[resource.value].kind != objectNode {
			return (&DecodeError{Reason: "expected a dictionary"}).inDictionary(resource.key)
		}
		name := strings.Clone(resource.key)
		for _, metric := range d.doc.members(resource.value, name) {
			named := ResourceMetric{Resource: name, Name: strings.Clone(metric.key)}
			l, err := d.namedMetric(metric.value, &named)
			if err != nil {
				return err
			}
			dst.Names = append(dst.Names, named)
			m.Metrics = append(m.Metrics, uuid.Nil)
			lists = append(lists, l)
		}
	}
	place(lists, m)
	return d.doc.twice
}

// namedMetric reads what stands under a metric's name.
func (d *Decoder) namedMetric(value uint32, named *ResourceMetric) (list, error) {
	if n := d.doc.nodes[value]; n.kind != objectNode || n.end == value+1 {
		l := d.doc.listOf(value)
		if l.fault != nil {
			return l, l.fault.inDictionary(named.Resource, named.Name)
		}
		return l, nil
	}
	members := d.doc.members(value, named.Resource, named.Name)
	// Without measures it is what Gnocchi calls it: no list of measures either.
	at := slices.IndexFunc(members, func(m member) bool { return m.key == "measures" })
	if at < 0 {
		return list{}, formatFault().inDictionary(named.Resource, named.Name)
	}
	for _, m := range members {
		field := &named.Unit
		switch m.key {
		case "measures":
			continue
		case "archive_policy_name":
			field = &named.ArchivePolicyName
		case "unit":
		default:
			return list{}, extraKey(named.Resource, named.Name, m.key)
		}
		n := d.doc.nodes[m.value]
		if n.kind != stringNode {
			return list{}, (&DecodeError{Reason: "expected str"}).inDictionary(named.Resource, named.Name, m.key)
		}
		*field = strings.Clone(d.doc.text(n))
	}
	l := d.doc.listOf(members[at].value)
	if l.fault != nil {
		return l, l.fault.inDictionary(named.Resource, named.Name, "measures")
	}
	return l, nil
}
