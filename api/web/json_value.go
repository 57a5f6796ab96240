package web

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/api/measures"
	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/model"
)

// Node is a value in a JSON body, and its path. Its methods check it and say what is wrong in the words that
// Gnocchi's clients know: a message, then the path to the fault.
type Node struct {
	Value any
	Path  []any // strings and ints
}

func (in Node) Fault(format string, args ...any) *Error {
	message := fmt.Sprintf(format, args...)
	if len(in.Path) > 0 {
		if _, inList := in.Path[len(in.Path)-1].(int); !inList && !strings.HasSuffix(message, "not allowed") &&
			!strings.HasSuffix(message, "not provided") &&
			!strings.HasPrefix(message, "value must not be one of") {
			message += " for dictionary value"
		}
		var at strings.Builder
		for _, step := range in.Path {
			if name, ok := step.(string); ok {
				fmt.Fprintf(&at, "['%s']", name)
			} else {
				fmt.Fprintf(&at, "[%d]", step)
			}
		}
		message += " @ data" + at.String()
	}
	detail := make([]string, len(in.Path))
	for i, step := range in.Path {
		detail[i] = fmt.Sprint(step)
	}
	return BadCause("Invalid input", message, detail)
}

// At returns the value under key or index step.
func (in Node) At(value any, step any) Node {
	return Node{value, append(slices.Clip(in.Path), step)}
}

// Fields returns the members of an object that may hold these keys only, and has to hold those that end in "*".
func (in Node) Fields(keys ...string) (map[string]Node, error) {
	object, ok := in.Value.(map[string]any)
	if !ok {
		return nil, in.Fault("expected a dictionary")
	}
	fields := make(map[string]Node, len(object))
	var extra []string
	for key, value := range object {
		if slices.Contains(keys, key) || slices.Contains(keys, key+"*") {
			fields[key] = in.At(value, key)
		} else {
			extra = append(extra, key)
		}
	}
	if len(extra) > 0 {
		first := slices.Min(extra)
		return nil, in.At(object[first], first).Fault("extra keys not allowed")
	}
	for _, key := range keys {
		if name, required := strings.CutSuffix(key, "*"); required {
			if _, ok := fields[name]; !ok {
				return nil, in.At(nil, name).Fault("required key not provided")
			}
		}
	}
	return fields, nil
}

// List returns the items of a list of one item at least.
func (in Node) List() ([]Node, error) {
	values, ok := in.Value.([]any)
	if !ok {
		return nil, in.Fault("expected a list")
	}
	if len(values) == 0 {
		return nil, in.Fault("length of value must be at least 1")
	}
	items := make([]Node, len(values))
	for i, value := range values {
		items[i] = in.At(value, i)
	}
	return items, nil
}

// Take reads a field into dst, if the object has the field and *err is nil. A fault becomes *err.
func Take[T any](err *error, fields map[string]Node, name string, dst *T, read func(Node) (T, error)) {
	field, ok := fields[name]
	if !ok || *err != nil {
		return
	}
	var value T
	if value, *err = read(field); *err == nil {
		*dst = value
	}
}

// Pointer makes a function for Take that returns a pointer.
func Pointer[T any](read func(Node) (T, error)) func(Node) (*T, error) {
	return func(in Node) (*T, error) {
		value, err := read(in)
		return &value, err
	}
}

// AnyText is Text of any length, for Take.
func AnyText(in Node) (string, error) { return in.Text(0) }

// TextUpTo is Text, for Take.
func TextUpTo(maxLength int) func(Node) (string, error) {
	return func(in Node) (string, error) { return in.Text(maxLength) }
}

// AtLeast is Integer, for Take.
func AtLeast(least int64) func(Node) (int64, error) {
	return func(in Node) (int64, error) { return in.Integer(least) }
}

// TimestampAt is Timestamp, for Take.
func TimestampAt(now carbonara.Timestamp) func(Node) (carbonara.Timestamp, error) {
	return func(in Node) (carbonara.Timestamp, error) { return in.Timestamp(now) }
}

// Bool returns a bool.
func (in Node) Bool() (bool, error) {
	value, ok := in.Value.(bool)
	if !ok {
		return false, in.Fault("expected bool")
	}
	return value, nil
}

// ListOf makes a function for Take that reads the items of a list of one item at least.
func ListOf[T any](read func(Node) (T, error)) func(Node) ([]T, error) {
	return func(in Node) ([]T, error) {
		items, err := in.List()
		list := make([]T, len(items))
		for i := 0; i < len(items) && err == nil; i++ {
			list[i], err = read(items[i])
		}
		return list, err
	}
}

// UUID returns a UUID.
func (in Node) UUID() (uuid.UUID, error) {
	text, err := in.Text(0)
	if err != nil {
		return uuid.Nil, err
	}
	id, err := model.ParseUUID(text)
	if err != nil {
		return uuid.Nil, in.Fault("not a valid value")
	}
	return id, nil
}

// Text returns a string of maxLength characters at most; 0 for any length.
func (in Node) Text(maxLength int) (string, error) {
	text, ok := in.Value.(string)
	if !ok {
		return "", in.Fault("expected str")
	}
	if maxLength > 0 && utf8.RuneCountInString(text) > maxLength {
		return "", in.Fault("length of value must be at most %d", maxLength)
	}
	return text, nil
}

// Integer returns a number of at least least; fractions are cut off and numeric strings taken, as in Gnocchi.
func (in Node) Integer(least int64) (int64, error) {
	var n int64
	switch v := in.Value.(type) {
	case json.Number:
		whole, err := v.Int64()
		if err != nil {
			f, err := v.Float64()
			if err != nil || math.Abs(f) >= math.MaxInt64 {
				return 0, in.Fault("expected int")
			}
			whole = int64(f)
		}
		n = whole
	case string:
		whole, err := strconv.ParseInt(strings.TrimSpace(v), 10, 64)
		if err != nil {
			return 0, in.Fault("expected int")
		}
		n = whole
	case bool:
		if v {
			n = 1
		}
	default:
		return 0, in.Fault("expected int")
	}
	if n < least {
		return 0, in.Fault("value must be at least %d", least)
	}
	return n, nil
}

// Timespan returns a span of time > 0: a number of seconds or words.
func (in Node) Timespan() (time.Duration, error) {
	var text string
	switch v := in.Value.(type) {
	case json.Number:
		text = v.String()
	case string:
		text = v
	case nil:
		return 0, in.Fault("Invalid timespan")
	default:
		return 0, in.Fault("Unable to parse timespan")
	}
	d, err := model.ParseTimespan(text)
	if err != nil {
		return 0, in.Fault("%s", err)
	}
	return d, nil
}

// decodeCause puts a fault in a body of measures in the same form. Gnocchi names at most the metric; which measure of
// it is meant stands beside.
func decodeCause(err *measures.DecodeError) Cause {
	cause := Cause{Cause: "Invalid input", Reason: err.Reason, Detail: []string{}}
	if err.Syntax {
		cause.Cause = "Unable to decode body"
	}
	if err.Path != nil {
		cause.Detail = err.Path
	}
	if len(err.Element) > len(err.Path) {
		cause.Element = err.Element
	}
	return cause
}

// Timestamp returns a point in time, in any form that measures take.
func (in Node) Timestamp(now carbonara.Timestamp) (carbonara.Timestamp, error) {
	text, err := in.textOrNumber()
	if err != nil {
		return 0, err
	}
	t, err := model.ParseTimestamp(text, now)
	if err != nil {
		return 0, in.Fault("%s", err)
	}
	return t, nil
}

// textOrNumber returns a string, or a number as it was written.
func (in Node) textOrNumber() (string, error) {
	if number, ok := in.Value.(json.Number); ok {
		return number.String(), nil
	}
	return in.Text(0)
}
