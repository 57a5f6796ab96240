package model

import (
	"encoding/json"
	"slices"
	"strings"
)

// ResourceType is a schema of resources: the attributes that they have beyond those of all resources. NewResourceType
// makes it; it is shared by its resources and never modified.
type ResourceType struct {
	Name       string
	Attributes []*Attribute // by name, ascending
	LastEra    uint32       // the highest ID that an era of an attribute has had, be the attribute gone
}

// MaxAttributes is the most attributes that a type can have. Databases under Gnocchi allow about as many columns.
const MaxAttributes = 1024

// NewResourceType checks what a client sent and returns the type; it keeps attributes. Errors are *FieldError.
func NewResourceType(name string, attributes []*Attribute) (*ResourceType, error) {
	if err := checkName("name", name); err != nil {
		return nil, err
	}
	return (&ResourceType{Name: name}).update(attributes, false)
}

// GenericResourceType returns the type that has no attributes of its own.
func GenericResourceType() *ResourceType { return &ResourceType{Name: GenericType} }

// Attribute returns the attribute of that name, nil if the type has none.
func (t *ResourceType) Attribute(name string) *Attribute { return attributeNamed(t.Attributes, name) }

func attributeNamed(attributes []*Attribute, name string) *Attribute {
	i, ok := slices.BinarySearchFunc(attributes, name, compareAttribute)
	if !ok {
		return nil
	}
	return attributes[i]
}

func compareAttribute(a *Attribute, name string) int { return strings.Compare(a.Name, name) }

// Update returns t with these attributes instead of its own: it adds attributes that t lacks, removes those not given,
// and changes limits and Required; t itself if nothing changes. A required attribute that is new in a type, or was
// optional, needs a Fill, since resources may be there. It keeps attributes. Errors are *FieldError.
func (t *ResourceType) Update(attributes []*Attribute) (*ResourceType, error) {
	return t.update(attributes, true)
}

func (t *ResourceType) update(attributes []*Attribute, mayHaveResources bool) (*ResourceType, error) {
	if len(attributes) > MaxAttributes {
		return nil, attributeFault("a resource type has %d attributes at most", MaxAttributes)
	}
	updated := &ResourceType{Name: t.Name, LastEra: t.LastEra}
	changed := len(attributes) != len(t.Attributes)
	for _, a := range attributes {
		if err := a.validate(); err != nil {
			return nil, err
		}
		if attributeNamed(updated.Attributes, a.Name) != nil {
			return nil, attributeFault("Resource attribute %s is given twice", a.Name)
		}
		before := t.Attribute(a.Name)
		if before != nil && before.same(a) {
			a = before
		} else {
			changed = true
			if err := updated.begin(before, a, mayHaveResources); err != nil {
				return nil, err
			}
		}
		i, _ := slices.BinarySearchFunc(updated.Attributes, a.Name, compareAttribute)
		updated.Attributes = slices.Insert(updated.Attributes, i, a)
	}
	if !changed {
		return t, nil
	}
	return updated, nil
}

// begin gives an attribute that is new (before is nil) or changed its eras.
func (t *ResourceType) begin(before, a *Attribute, mayHaveResources bool) error {
	switch {
	case before != nil && before.Kind != a.Kind:
		return attributeFault("Type update is not available yet. Changing %s to %s for attribute %s of resource %s",
			before.Kind, a.Kind, a.Name, t.Name)
	case a.Required && a.Fill == nil && mayHaveResources && (before == nil || !before.Required):
		return a.invalidFill("must not be empty if required=True")
	}
	if before != nil {
		a.Eras = slices.Clip(before.Eras)
	}
	if before == nil || a.Fill != nil {
		t.LastEra++
		a.Eras = append(a.Eras, Era{t.LastEra, a.Fill})
	}
	return nil
}

// Check returns a *FieldError unless values are of t: for each attribute one at most, of its kind, null only where it
// is not required; an absent value is null. Lengths and limits are checked where the values come in: they may have
// changed since a value was stored.
func (t *ResourceType) Check(values Values) error {
	for i, v := range values {
		a := t.Attribute(v.Name)
		switch {
		case a == nil:
			return &FieldError{v.Name, "Resource type " + t.Name + " has no attribute " + v.Name}
		case i > 0 && values[i-1].Name >= v.Name:
			return &FieldError{v.Name, "attribute " + v.Name + " is given twice or out of order"}
		case v.Value != nil && !a.Kind.Holds(v.Value):
			return &FieldError{v.Name, "attribute " + v.Name + " is no " + a.Kind.String()}
		}
	}
	for _, a := range t.Attributes {
		if value, _ := values.Get(a.Name); value == nil && a.Required {
			return &FieldError{a.Name, "attribute " + a.Name + " must be given"}
		}
	}
	return nil
}

// MarshalJSON shows t as the REST API does. There is no other state: a type is there, or not.
func (t *ResourceType) MarshalJSON() ([]byte, error) {
	attributes := make(map[string]*Attribute, len(t.Attributes))
	for _, a := range t.Attributes {
		attributes[a.Name] = a
	}
	return json.Marshal(struct {
		Name       string                `json:"name"`
		Attributes map[string]*Attribute `json:"attributes"`
		State      string                `json:"state"`
	}{t.Name, attributes, "active"})
}
