package api

import (
	"encoding/json"
	"errors"
	"maps"
	"math"
	"slices"
	"unicode/utf8"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/model"
)

// attributeValue returns a value for an attribute, of the Go type of its kind, within its limits.
func (in jsonValue) attributeValue(a *model.Attribute, now carbonara.Timestamp) (any, error) {
	switch a.Kind {
	case model.KindString:
		text, err := in.text(a.MaxLength)
		if err != nil {
			return nil, err
		}
		if utf8.RuneCountInString(text) < a.MinLength {
			return nil, in.fault("length of value must be at least %d", a.MinLength)
		}
		return text, nil
	case model.KindUUID:
		text, _ := in.value.(string)
		id, err := model.ParseUUID(text)
		if err != nil {
			return nil, in.fault("badly formed hexadecimal UUID string")
		}
		return id, nil
	case model.KindNumber:
		if _, ok := in.value.(bool); ok { // Gnocchi lets it pass, to fail where PostgreSQL wants a number
			return nil, in.fault("expected Real")
		}
		return in.real(a.Min, a.Max)
	case model.KindBool:
		b, ok := in.value.(bool)
		if !ok {
			return nil, in.fault("expected bool")
		}
		return b, nil
	}
	t, err := in.timestamp(now)
	if err != nil {
		return nil, err
	}
	return t, nil
}

// real returns a number between two limits, nil for none; a boolean counts as 0 or 1, as in Gnocchi.
func (in jsonValue) real(least, most *float64) (any, error) {
	var f float64
	switch v := in.value.(type) {
	case json.Number:
		var err error
		if f, err = v.Float64(); err != nil || math.IsInf(f, 0) {
			return nil, in.fault("expected Real")
		}
	case bool:
		if v {
			f = 1
		}
	default:
		return nil, in.fault("expected Real")
	}
	switch {
	case least != nil && f < *least:
		return nil, in.fault("value must be at least %v", *least)
	case most != nil && f > *most:
		return nil, in.fault("value must be at most %v", *most)
	}
	return f, nil
}

// attributes reads the attributes of a resource type. Options, which say what to fill in, are for those that are
// added to a type that is there.
func (in jsonValue) attributes(options bool, now carbonara.Timestamp) ([]*model.Attribute, error) {
	object, ok := in.value.(map[string]any)
	if !ok {
		return nil, in.fault("expected a dictionary")
	}
	var attributes []*model.Attribute
	for _, name := range slices.Sorted(maps.Keys(object)) {
		a, err := in.at(object[name], name).attribute(name, options, now)
		if err != nil {
			return nil, err
		}
		attributes = append(attributes, a)
	}
	return attributes, nil
}

// attribute reads one attribute of a resource type.
func (in jsonValue) attribute(name string, options bool, now carbonara.Timestamp) (*model.Attribute, error) {
	object, ok := in.value.(map[string]any)
	if !ok {
		return nil, in.fault("expected a dictionary")
	}
	text, ok := object["type"].(string)
	if _, given := object["type"]; !given {
		return nil, in.at(nil, "type").fault("required key not provided")
	}
	kind, known := model.ParseAttributeKind(text)
	if !ok || !known {
		return nil, in.at(nil, "type").fault("not a valid value")
	}
	keys := []string{"type*", "required"}
	if options {
		keys = append(keys, "options")
	}
	switch kind {
	case model.KindString:
		keys = append(keys, "min_length", "max_length")
	case model.KindNumber:
		keys = append(keys, "min", "max")
	}
	fields, err := in.fields(keys...)
	if err != nil {
		return nil, err
	}
	a := &model.Attribute{Name: name, Kind: kind, Required: true}
	if kind == model.KindString {
		a.MaxLength = model.MaxStringLength
	}
	if field, ok := fields["required"]; ok {
		if a.Required, ok = field.value.(bool); !ok {
			return nil, field.fault("expected bool")
		}
	}
	if err := parseLimits(a, fields); err != nil {
		return nil, err
	}
	if field, ok := fields["options"]; ok {
		return a, field.fill(a, now)
	}
	return a, nil
}

// parseLimits reads the limits of a string or number.
func parseLimits(a *model.Attribute, fields map[string]jsonValue) error {
	if err := parseLength(fields, "min_length", 0, &a.MinLength); err != nil {
		return err
	}
	if err := parseLength(fields, "max_length", 1, &a.MaxLength); err != nil {
		return err
	}
	if err := parseLimit(fields, "min", &a.Min); err != nil {
		return err
	}
	return parseLimit(fields, "max", &a.Max)
}

// parseLength sets to if the field is given.
func parseLength(fields map[string]jsonValue, key string, least int64, to *int) error {
	field, ok := fields[key]
	if !ok {
		return nil
	}
	number, _ := field.value.(json.Number)
	n, err := number.Int64()
	switch {
	case err != nil:
		return field.fault("expected int")
	case n < least:
		return field.fault("value must be at least %d", least)
	case n > model.MaxStringLength:
		return field.fault("value must be at most %d", model.MaxStringLength)
	}
	*to = int(n)
	return nil
}

// parseLimit sets to if the field is given and not null.
func parseLimit(fields map[string]jsonValue, key string, to **float64) error {
	field, ok := fields[key]
	if !ok || field.value == nil {
		return nil
	}
	value, err := field.real(nil, nil)
	if err != nil {
		return field.fault("not a valid value")
	}
	f := value.(float64)
	*to = &f
	return nil
}

// fill reads the options of an attribute.
func (in jsonValue) fill(a *model.Attribute, now carbonara.Timestamp) error {
	fields, err := in.fields("fill")
	if err != nil {
		return err
	}
	field, ok := fields["fill"]
	if !ok || field.value == nil {
		return nil
	}
	a.Fill, err = jsonValue{value: field.value}.attributeValue(a, now)
	var fault *Error
	if errors.As(err, &fault) {
		reason := fault.description()
		if cause, ok := fault.Detail.(Cause); ok {
			reason = cause.Reason
		}
		return badRequest("Invalid input: Option 'fill' of resource attribute %s is invalid: %s", a.Name, reason)
	}
	return err
}
