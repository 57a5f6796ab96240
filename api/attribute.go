package api

import (
	"encoding/json"
	"errors"
	"maps"
	"math"
	"slices"
	"unicode/utf8"

	"github.com/gnocco-db/gnocco/api/web"
	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/model"
)

// attributeValue returns a value for an attribute, of the Go type of its kind, within its limits.
func attributeValue(in web.Node, a *model.Attribute, now carbonara.Timestamp) (any, error) {
	switch a.Kind {
	case model.KindString:
		text, err := in.Text(a.MaxLength)
		if err != nil {
			return nil, err
		}
		if utf8.RuneCountInString(text) < a.MinLength {
			return nil, in.Fault("length of value must be at least %d", a.MinLength)
		}
		return text, nil
	case model.KindUUID:
		text, _ := in.Value.(string)
		id, err := model.ParseUUID(text)
		if err != nil {
			return nil, in.Fault("badly formed hexadecimal UUID string")
		}
		return id, nil
	case model.KindNumber:
		if _, ok := in.Value.(bool); ok { // Gnocchi lets it pass, to fail where PostgreSQL wants a number
			return nil, in.Fault("expected Real")
		}
		return parseReal(in, a.Min, a.Max)
	case model.KindBool:
		b, ok := in.Value.(bool)
		if !ok {
			return nil, in.Fault("expected bool")
		}
		return b, nil
	}
	return in.Timestamp(now)
}

// parseReal returns a number between two limits, nil for none; a boolean counts as 0 or 1, as in Gnocchi.
func parseReal(in web.Node, least, most *float64) (any, error) {
	var f float64
	switch v := in.Value.(type) {
	case json.Number:
		var err error
		if f, err = v.Float64(); err != nil || math.IsInf(f, 0) {
			return nil, in.Fault("expected Real")
		}
	case bool:
		if v {
			f = 1
		}
	default:
		return nil, in.Fault("expected Real")
	}
	switch {
	case least != nil && f < *least:
		return nil, in.Fault("value must be at least %v", *least)
	case most != nil && f > *most:
		return nil, in.Fault("value must be at most %v", *most)
	}
	return f, nil
}

// parseAttributeList reads the attributes of a resource type. Only attributes that are added to an existing type have
// options, which say what to fill in.
func parseAttributeList(in web.Node, options bool, now carbonara.Timestamp) ([]*model.Attribute, error) {
	object, ok := in.Value.(map[string]any)
	if !ok {
		return nil, in.Fault("expected a dictionary")
	}
	var attributes []*model.Attribute
	for _, name := range slices.Sorted(maps.Keys(object)) {
		a, err := parseAttribute(in.At(object[name], name), name, options, now)
		if err != nil {
			return nil, err
		}
		attributes = append(attributes, a)
	}
	return attributes, nil
}

// parseAttribute reads one attribute of a resource type.
func parseAttribute(in web.Node, name string, options bool, now carbonara.Timestamp) (*model.Attribute, error) {
	object, ok := in.Value.(map[string]any)
	if !ok {
		return nil, in.Fault("expected a dictionary")
	}
	text, ok := object["type"].(string)
	if _, given := object["type"]; !given {
		return nil, in.At(nil, "type").Fault("required key not provided")
	}
	kind, known := model.ParseAttributeKind(text)
	if !ok || !known {
		return nil, in.At(nil, "type").Fault("not a valid value")
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
	fields, err := in.Fields(keys...)
	if err != nil {
		return nil, err
	}
	a := &model.Attribute{Name: name, Kind: kind, Required: true}
	if kind == model.KindString {
		a.MaxLength = model.MaxStringLength
	}
	web.Take(&err, fields, "required", &a.Required, web.Node.Bool)
	web.Take(&err, fields, "min_length", &a.MinLength, lengthFrom(0))
	web.Take(&err, fields, "max_length", &a.MaxLength, lengthFrom(1))
	web.Take(&err, fields, "min", &a.Min, parseLimit)
	web.Take(&err, fields, "max", &a.Max, parseLimit)
	if err != nil {
		return nil, err
	}
	if field, ok := fields["options"]; ok {
		return a, parseFill(field, a, now)
	}
	return a, nil
}

// lengthFrom makes a function that reads a limit of a string's length.
func lengthFrom(least int64) func(field web.Node) (int, error) {
	return func(field web.Node) (int, error) {
		number, _ := field.Value.(json.Number)
		n, err := number.Int64()
		switch {
		case err != nil:
			return 0, field.Fault("expected int")
		case n < least:
			return 0, field.Fault("value must be at least %d", least)
		case n > model.MaxStringLength:
			return 0, field.Fault("value must be at most %d", model.MaxStringLength)
		}
		return int(n), nil
	}
}

// parseLimit reads a limit of a number, nil for none.
func parseLimit(field web.Node) (*float64, error) {
	if field.Value == nil {
		return nil, nil
	}
	value, err := parseReal(field, nil, nil)
	if err != nil {
		return nil, field.Fault("not a valid value")
	}
	return new(value.(float64)), nil
}

// parseFill reads the options of an attribute.
func parseFill(in web.Node, a *model.Attribute, now carbonara.Timestamp) error {
	fields, err := in.Fields("fill")
	if err != nil {
		return err
	}
	field, ok := fields["fill"]
	if !ok || field.Value == nil {
		return nil
	}
	a.Fill, err = attributeValue(web.Node{Value: field.Value}, a, now)
	if fault, ok := errors.AsType[*web.Error](err); ok {
		reason := fault.Description()
		if cause, ok := fault.Detail.(web.Cause); ok {
			reason = cause.Reason
		}
		return web.BadRequest("Invalid input: Option 'fill' of resource attribute %s is invalid: %s", a.Name, reason)
	}
	return err
}
