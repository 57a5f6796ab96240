package main

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/model"
)

// policyJSON is an archive policy as the REST API shows it.
type policyJSON struct {
	Name       string   `json:"name"`
	BackWindow int      `json:"back_window"`
	Methods    []string `json:"aggregation_methods"`
	Definition []struct {
		Granularity string `json:"granularity"`
		Points      *int64 `json:"points"`
	} `json:"definition"`
}

func (p *policyJSON) model() (*model.ArchivePolicy, error) {
	var definition []model.DefinitionInput
	for _, item := range p.Definition {
		g, err := model.ParseTimespan(item.Granularity)
		if err != nil {
			return nil, fmt.Errorf("archive policy %s: %w", p.Name, err)
		}
		definition = append(definition, model.DefinitionInput{Granularity: &g, Points: item.Points})
	}
	policy, err := model.NewArchivePolicy(p.Name, p.BackWindow, definition, p.Methods)
	if err != nil {
		return nil, fmt.Errorf("archive policy %s: %w", p.Name, err)
	}
	return policy, nil
}

type ruleJSON struct {
	Name              string `json:"name"`
	MetricPattern     string `json:"metric_pattern"`
	ArchivePolicyName string `json:"archive_policy_name"`
}

func (r *ruleJSON) model() *model.ArchivePolicyRule {
	return &model.ArchivePolicyRule{Name: r.Name, MetricPattern: r.MetricPattern,
		ArchivePolicyName: r.ArchivePolicyName}
}

// typeJSON is a resource type as the REST API and the database have it.
type typeJSON struct {
	Name       string                    `json:"name"`
	Attributes map[string]*attributeJSON `json:"attributes"`
}

type attributeJSON struct {
	Type      string   `json:"type"`
	Required  bool     `json:"required"`
	MinLength *int     `json:"min_length"`
	MaxLength *int     `json:"max_length"`
	Min       *float64 `json:"min"`
	Max       *float64 `json:"max"`
}

const defaultMaxLength = 255

func (k *typeJSON) model() (*model.ResourceType, error) {
	var attributes []*model.Attribute
	for name, a := range k.Attributes {
		kind, ok := model.ParseAttributeKind(a.Type)
		if !ok {
			return nil, fmt.Errorf("resource type %s: attribute %s has the unknown type %q", k.Name, name, a.Type)
		}
		attribute := &model.Attribute{Name: name, Kind: kind, Required: a.Required, Min: a.Min, Max: a.Max}
		if kind == model.KindString {
			attribute.MaxLength = defaultMaxLength
			if a.MinLength != nil {
				attribute.MinLength = *a.MinLength
			}
			if a.MaxLength != nil {
				attribute.MaxLength = *a.MaxLength
			}
		}
		attributes = append(attributes, attribute)
	}
	kind, err := model.NewResourceType(k.Name, attributes)
	if err != nil {
		return nil, fmt.Errorf("resource type %s: %w", k.Name, err)
	}
	return kind, nil
}

// metricJSON is a metric of a list.
type metricJSON struct {
	ID         uuid.UUID  `json:"id"`
	Name       *string    `json:"name"`
	Unit       *string    `json:"unit"`
	Creator    *string    `json:"creator"`
	ResourceID *uuid.UUID `json:"resource_id"`

	ArchivePolicy     policyJSON `json:"archive_policy"`
	ArchivePolicyName string     `json:"archive_policy_name"`
}

func (m *metricJSON) model(policies map[string]*model.ArchivePolicy) (*model.Metric, error) {
	name := m.ArchivePolicyName
	if name == "" {
		name = m.ArchivePolicy.Name
	}
	policy := policies[name]
	if policy == nil {
		return nil, fmt.Errorf("metric %s has the archive policy %q, which is not in the list", m.ID, name)
	}
	text := func(s *string) string {
		if s == nil {
			return ""
		}
		return *s
	}
	return &model.Metric{ID: m.ID, Name: text(m.Name), Unit: text(m.Unit), Creator: text(m.Creator),
		ArchivePolicy: policy, ResourceID: m.ResourceID}, nil
}

// resourceOf makes a state of a resource from its form in the REST API with details.
func resourceOf(shown map[string]any, kinds map[string]*model.ResourceType) (*model.Resource, error) {
	var faults []error
	text := func(name string) *string {
		s, ok := shown[name].(string)
		if !ok {
			return nil
		}
		return &s
	}
	must := func(name string) string {
		if s := text(name); s != nil {
			return *s
		}
		return ""
	}
	moment := func(name string) *carbonara.Timestamp {
		s := text(name)
		if s == nil {
			return nil
		}
		t, ok := model.ParseISO(*s)
		if !ok {
			faults = append(faults, fmt.Errorf("%s: %q is no time", name, *s))
		}
		return &t
	}
	id, err := uuid.Parse(must("id"))
	faults = append(faults, err)
	r := &model.Resource{
		ID: id, OriginalID: must("original_resource_id"), Type: must("type"), Creator: must("creator"),
		UserID: text("user_id"), ProjectID: text("project_id"),
		EndedAt: moment("ended_at"), RevisionEnd: moment("revision_end"),
	}
	if t := moment("started_at"); t != nil {
		r.StartedAt = *t
	}
	if t := moment("revision_start"); t != nil {
		r.RevisionStart = *t
	}
	kind := kinds[r.Type]
	if kind == nil {
		return nil, fmt.Errorf("resource %s has the type %q, which is not in the list", id, r.Type)
	}
	for _, a := range kind.Attributes {
		v, err := attributeValue(a, shown[a.Name])
		faults = append(faults, err)
		r.Attributes.Set(a.Name, v)
	}
	if err := errors.Join(faults...); err != nil {
		return nil, fmt.Errorf("resource %s: %w", id, err)
	}
	return r, nil
}

func attributeValue(a *model.Attribute, shown any) (any, error) {
	wrong := fmt.Errorf("attribute %s: %v is no %s", a.Name, shown, a.Kind)
	if shown == nil {
		return nil, nil
	}
	text, isText := shown.(string)
	value := shown
	switch {
	case a.Kind == model.KindUUID && isText:
		id, err := uuid.Parse(text)
		if err != nil {
			return nil, wrong
		}
		value = id
	case a.Kind == model.KindDatetime && isText:
		t, ok := model.ParseISO(text)
		if !ok {
			return nil, wrong
		}
		value = t
	}
	if !a.Kind.Holds(value) {
		return nil, wrong
	}
	return value, nil
}

var errMeasures = errors.New("the measures do not look like [[time, granularity, value], ...]")

// errFractions is of times that end in a fraction of a second: Gnocchi 4.4 writes "+00:00" for them.
var errFractions = errors.New("this Gnocchi writes no time that has a fraction of a second: it cannot be read by " +
	"REST; use --from-config, or delete its metrics of such granularities")

// parseMeasures reads rows of time, granularity and value, as Python writes them: NaN and Infinity are values.
func parseMeasures(body []byte) (map[time.Duration]*series, error) {
	all := make(map[time.Duration]*series)
	rest := bytes.TrimSpace(body)
	take := func(c byte) bool {
		rest = bytes.TrimLeft(rest, " \n\t")
		if len(rest) == 0 || rest[0] != c {
			return false
		}
		rest = rest[1:]
		return true
	}
	token := func() string {
		rest = bytes.TrimLeft(rest, " \n\t")
		n := bytes.IndexAny(rest, ",] ")
		if n < 0 {
			n = len(rest)
		}
		text := string(rest[:n])
		rest = rest[n:]
		return text
	}
	if !take('[') {
		return nil, errMeasures
	}
	var last *series
	var lastText string
	for first := true; !take(']'); first = false {
		if !first && !take(',') || !take('[') || !take('"') {
			return nil, errMeasures
		}
		n := bytes.IndexByte(rest, '"')
		if n < 0 {
			return nil, errMeasures
		}
		t, ok := model.ParseISO(string(rest[:n]))
		if !ok && string(rest[:n]) == "+00:00" {
			return nil, errFractions
		}
		rest = rest[n+1:]
		if !ok || !take(',') {
			return nil, errMeasures
		}
		text := token()
		if last == nil || text != lastText {
			seconds, err := strconv.ParseFloat(text, 64)
			if err != nil {
				return nil, errMeasures
			}
			g := time.Duration(math.Round(seconds * float64(time.Second)))
			if all[g] == nil {
				all[g] = new(series)
			}
			last, lastText = all[g], text
		}
		if !take(',') {
			return nil, errMeasures
		}
		v, err := parseValue(token())
		if err != nil || !take(']') {
			return nil, errMeasures
		}
		last.add(t, v)
	}
	return all, nil
}

func parseValue(text string) (float64, error) {
	if text == "null" {
		return math.NaN(), nil
	}
	return strconv.ParseFloat(text, 64) // knows NaN, Infinity, -Infinity
}
