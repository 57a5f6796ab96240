package index

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/cockroachdb/pebble/v2"
	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/storage/index/keyspace"
	"github.com/gnocco-db/gnocco/storage/index/records"
)

// ResourceTypes returns all, by name; generic is always among them. The slice is the store's own.
func (s *policyTable) ResourceTypes() []*model.ResourceType { return s.current.Load().sortedTypes }

// ResourceType returns one by its name, or a model.ErrNotFound.
func (s *policyTable) ResourceType(name string) (*model.ResourceType, error) {
	return s.current.Load().resourceType(name)
}

// CreateResourceType keeps t, or returns a model.ErrExists.
func (s *policyTable) CreateResourceType(ctx context.Context, t *model.ResourceType) error {
	return s.change(ctx, func(old *policiesAndTypes, b *pebble.Batch) (*policiesAndTypes, error) {
		if old.types[t.Name] != nil {
			return nil, model.Exists(model.NounResourceType, t.Name)
		}
		return old.withType(t), setResourceType(b, t)
	})
}

// UpdateResourceType replaces a type by the result of update, by model.ResourceType.Update, and returns the new one. It
// writes no resources, because there may be many: reads fill in their new attributes.
func (s *policyTable) UpdateResourceType(ctx context.Context, name string,
	update func(old *model.ResourceType) (*model.ResourceType, error)) (*model.ResourceType, error) {
	var t *model.ResourceType
	err := s.change(ctx, func(old *policiesAndTypes, b *pebble.Batch) (*policiesAndTypes, error) {
		current, err := old.resourceType(name)
		if err != nil {
			return nil, err
		}
		if t, err = update(current); err != nil {
			return nil, err
		}
		if t == current {
			return old, nil
		}
		if t.Name != name || name == model.GenericType {
			return nil, &model.FieldError{Field: "name", Reason: "Resource type " + name + " cannot be changed so"}
		}
		if err := s.checkLimits(ctx, current, t); err != nil {
			return nil, err
		}
		return old.withType(t), setResourceType(b, t)
	})
	return t, err
}

// checkLimits returns a *model.FieldError if a resource has a value of was beyond narrower limits of is. It reads all
// resources of the type, unless no limits are narrower.
func (s *policyTable) checkLimits(ctx context.Context, was, is *model.ResourceType) error {
	var narrowed []*model.Attribute
	for _, a := range is.Attributes {
		if before := was.Attribute(a.Name); before != nil && a.Narrows(before) {
			narrowed = append(narrowed, a)
		}
	}
	if narrowed == nil {
		return nil
	}
	decoder := s.resources.Decoder(nil)
	return s.log.Scan(ctx, keyspace.TypeResourcePrefix(was.Name), nil, func(key, _ []byte) (bool, error) {
		id, _ := keyspace.LastID(key)
		value, err := s.log.Get(keyspace.IDKey(keyspace.Resource, id))
		if err != nil {
			return false, fmt.Errorf("index: read resource %s: %w", id, err)
		}
		if value == nil {
			return true, nil // deleted since
		}
		r, err := decoder.View(id, value)
		if err != nil && s.log.SkipCorrupt(err) {
			return true, nil
		}
		if err != nil {
			return false, err
		}
		for _, a := range narrowed {
			if value, _ := r.Attributes.Get(a.Name); !a.Allows(value) {
				return false, &model.FieldError{Field: "attributes",
					Reason: fmt.Sprintf(
						"Resource attribute %s has values beyond these limits, that of resource %s for one", a.Name,
						id)}
			}
		}
		return true, nil
	})
}

// DeleteResourceType removes a type. It returns a model.ErrNotFound, or a model.ErrInUse if a resource has it, as one
// always may have generic.
func (s *policyTable) DeleteResourceType(ctx context.Context, name string) error {
	return s.change(ctx, func(old *policiesAndTypes, b *pebble.Batch) (*policiesAndTypes, error) {
		if _, err := old.resourceType(name); err != nil {
			return nil, err
		}
		inUse := name == model.GenericType
		err := s.log.Scan(ctx, keyspace.TypeResourcePrefix(name), nil, func(_, _ []byte) (bool, error) {
			inUse = true
			return false, nil
		})
		if err != nil {
			return nil, err
		}
		if inUse {
			return nil, model.InUse(model.NounResourceType, name)
		}
		without := old.edited(func(c *policiesAndTypes) { delete(c.types, name) })
		return without, b.Delete(keyspace.NameKey(keyspace.ResourceType, name), nil)
	})
}

// storedResourceType is a type's value.
type storedResourceType struct {
	LastEra    uint32            `json:"last_era,omitempty"`
	Attributes []storedAttribute `json:"attributes,omitempty"`
}

type storedAttribute struct {
	Name      string      `json:"name"`
	Kind      string      `json:"type"`
	Required  bool        `json:"required,omitempty"`
	MinLength int         `json:"min_length,omitempty"`
	MaxLength int         `json:"max_length,omitempty"`
	Min       *float64    `json:"min,omitempty"`
	Max       *float64    `json:"max,omitempty"`
	Eras      []storedEra `json:"eras"`
}

// storedEra has a datetime to fill in as nanoseconds since 1970.
type storedEra struct {
	ID   uint32          `json:"id"`
	Fill json.RawMessage `json:"fill,omitempty"`
}

func setResourceType(b *pebble.Batch, t *model.ResourceType) error {
	stored := storedResourceType{LastEra: t.LastEra}
	for _, a := range t.Attributes {
		item := storedAttribute{Name: a.Name, Kind: a.Kind.String(), Required: a.Required,
			MinLength: a.MinLength, MaxLength: a.MaxLength, Min: a.Min, Max: a.Max}
		for _, era := range a.Eras {
			kept := storedEra{ID: era.ID}
			if era.Fill != nil {
				var err error
				if kept.Fill, err = json.Marshal(era.Fill); err != nil {
					return err
				}
			}
			item.Eras = append(item.Eras, kept)
		}
		stored.Attributes = append(stored.Attributes, item)
	}
	return records.SetJSON(b, keyspace.NameKey(keyspace.ResourceType, t.Name), stored)
}

func decodeResourceType(name string, value []byte) (*model.ResourceType, error) {
	var stored storedResourceType
	if err := records.DecodeJSON(value, &stored); err != nil {
		return nil, fmt.Errorf("resource type %q: %w", name, err)
	}
	t := &model.ResourceType{Name: name, LastEra: stored.LastEra}
	for i, item := range stored.Attributes {
		a := &model.Attribute{Name: item.Name, Required: item.Required, MinLength: item.MinLength,
			MaxLength: item.MaxLength, Min: item.Min, Max: item.Max}
		kind, ok := model.ParseAttributeKind(item.Kind)
		if !ok || len(item.Eras) == 0 || i > 0 && t.Attributes[i-1].Name >= item.Name {
			return nil, fmt.Errorf("%w: resource type %q: attribute %q", records.ErrCorrupt, name, item.Name)
		}
		a.Kind = kind
		for _, era := range item.Eras {
			fill, err := decodeFill(kind, era.Fill)
			if err != nil {
				return nil, fmt.Errorf("%w: resource type %q: attribute %q: %w",
					records.ErrCorrupt, name, item.Name, err)
			}
			a.Eras = append(a.Eras, model.Era{ID: era.ID, Fill: fill})
		}
		t.Attributes = append(t.Attributes, a)
	}
	return t, nil
}

// decodeFill returns a value of kind's Go type.
func decodeFill(kind model.AttributeKind, text json.RawMessage) (any, error) {
	if text == nil {
		return nil, nil
	}
	switch kind {
	case model.KindUUID:
		return unmarshal[uuid.UUID](text)
	case model.KindNumber:
		return unmarshal[float64](text)
	case model.KindBool:
		return unmarshal[bool](text)
	case model.KindDatetime:
		return unmarshal[carbonara.Timestamp](text)
	}
	return unmarshal[string](text)
}

func unmarshal[T any](text json.RawMessage) (any, error) {
	var v T
	err := json.Unmarshal(text, &v)
	return v, err
}
