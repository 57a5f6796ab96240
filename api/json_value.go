package api

import (
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/gnocco-db/gnocco/api/measures"
	"github.com/gnocco-db/gnocco/model"
)

// jsonValue is a value in a JSON body, and its path. Its methods check it and say what is wrong in the words that
// Gnocchi's clients know: a message, then the path to the fault.
type jsonValue struct {
	value any
	path  []any // strings and ints
}

func (in jsonValue) fault(format string, args ...any) *Error {
	message := fmt.Sprintf(format, args...)
	if len(in.path) > 0 {
		if _, inList := in.path[len(in.path)-1].(int); !inList && !strings.HasSuffix(message, "not allowed") &&
			!strings.HasSuffix(message, "not provided") &&
			!strings.HasPrefix(message, "value must not be one of") {
			message += " for dictionary value"
		}
		var at strings.Builder
		for _, step := range in.path {
			if name, ok := step.(string); ok {
				fmt.Fprintf(&at, "['%s']", name)
			} else {
				fmt.Fprintf(&at, "[%d]", step)
			}
		}
		message += " @ data" + at.String()
	}
	detail := make([]string, len(in.path))
	for i, step := range in.path {
		detail[i] = fmt.Sprint(step)
	}
	return &Error{Status: http.StatusBadRequest, Detail: Cause{Cause: "Invalid input", Reason: message, Detail: detail}}
}

// at returns the value under key or index step.
func (in jsonValue) at(value any, step any) jsonValue {
	return jsonValue{value, append(slices.Clip(in.path), step)}
}

// fields returns the members of an object that may hold these keys only, and has to hold those that end in "*".
func (in jsonValue) fields(keys ...string) (map[string]jsonValue, error) {
	object, ok := in.value.(map[string]any)
	if !ok {
		return nil, in.fault("expected a dictionary")
	}
	fields := make(map[string]jsonValue, len(object))
	var extra []string
	for key, value := range object {
		if slices.Contains(keys, key) || slices.Contains(keys, key+"*") {
			fields[key] = in.at(value, key)
		} else {
			extra = append(extra, key)
		}
	}
	if len(extra) > 0 {
		first := slices.Min(extra)
		return nil, in.at(object[first], first).fault("extra keys not allowed")
	}
	for _, key := range keys {
		if name, required := strings.CutSuffix(key, "*"); required {
			if _, ok := fields[name]; !ok {
				return nil, in.at(nil, name).fault("required key not provided")
			}
		}
	}
	return fields, nil
}

// list returns the items of a list of one item at least.
func (in jsonValue) list() ([]jsonValue, error) {
	values, ok := in.value.([]any)
	if !ok {
		return nil, in.fault("expected a list")
	}
	if len(values) == 0 {
		return nil, in.fault("length of value must be at least 1")
	}
	items := make([]jsonValue, len(values))
	for i, value := range values {
		items[i] = in.at(value, i)
	}
	return items, nil
}

// text returns a string of maxLength characters at most; 0 for any length.
func (in jsonValue) text(maxLength int) (string, error) {
	text, ok := in.value.(string)
	if !ok {
		return "", in.fault("expected str")
	}
	if maxLength > 0 && utf8.RuneCountInString(text) > maxLength {
		return "", in.fault("length of value must be at most %d", maxLength)
	}
	return text, nil
}

// integer returns a number of at least least; fractions are cut off and numeric strings taken, as in Gnocchi.
func (in jsonValue) integer(least int64) (int64, error) {
	var n int64
	switch v := in.value.(type) {
	case json.Number:
		whole, err := v.Int64()
		if err != nil {
			f, err := v.Float64()
			if err != nil || math.Abs(f) >= math.MaxInt64 {
				return 0, in.fault("expected int")
			}
			whole = int64(f)
		}
		n = whole
	case string:
		whole, err := strconv.ParseInt(strings.TrimSpace(v), 10, 64)
		if err != nil {
			return 0, in.fault("expected int")
		}
		n = whole
	case bool:
		if v {
			n = 1
		}
	default:
		return 0, in.fault("expected int")
	}
	if n < least {
		return 0, in.fault("value must be at least %d", least)
	}
	return n, nil
}

// timespan returns a span of time > 0: a number of seconds or words.
func (in jsonValue) timespan() (time.Duration, error) {
	var text string
	switch v := in.value.(type) {
	case json.Number:
		text = v.String()
	case string:
		text = v
	case nil:
		return 0, in.fault("Invalid timespan")
	default:
		return 0, in.fault("Unable to parse timespan")
	}
	d, err := model.ParseTimespan(text)
	if err != nil {
		return 0, in.fault("%s", err)
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
