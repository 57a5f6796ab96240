package filter

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/gnocco-db/gnocco/model"
)

// value turns a literal, which is not null, into a value of c's kind, or returns a *model.FieldError.
func (s *Scope) value(c column, l literal) (any, error) {
	text, isText := l.(string)
	if n, ok := l.(number); ok {
		text, isText = string(n), true
	}
	flag, isFlag := l.(bool)
	switch c.kind {
	case kindText:
		if isFlag {
			return pythonBool(flag), nil
		}
		return text, nil
	case kindNumber:
		if isFlag {
			return map[bool]float64{true: 1}[flag], nil
		}
		if f, ok := model.ParseNumber(text); ok && !math.IsNaN(f) {
			return f, nil
		}
	case kindBool:
		if isFlag {
			return flag, nil
		}
		if b, ok := parseBool(text); ok {
			return b, nil
		}
	}
	if !isText {
		return nil, invalidValue(c.name, l)
	}
	value, err := s.parse(c, text)
	if err != nil {
		return nil, invalidValue(c.name, l)
	}
	return value, nil
}

// parseBool reads a word as PostgreSQL does, to which Gnocchi hands it on: the beginning of true, false, yes, no, on or
// off, in any case, as far as it tells which one; 1 or 0.
func parseBool(text string) (value, ok bool) {
	word := strings.ToLower(strings.Trim(text, " \t\n\v\f\r"))
	switch word {
	case "":
		return false, false
	case "1", "on":
		return true, true
	case "0", "of", "off":
		return false, true
	}
	value = strings.HasPrefix("true", word) || strings.HasPrefix("yes", word)
	return value, value || strings.HasPrefix("false", word) || strings.HasPrefix("no", word)
}

// parse reads a value of the kinds that have a text form only.
func (s *Scope) parse(c column, text string) (any, error) {
	switch c.kind {
	case kindUUID:
		if c.name == "id" {
			return model.ResourceID(text, s.Creator)
		}
		return model.ParseUUID(text)
	case kindTime:
		t, err := model.ParseTimestamp(text, s.Now)
		return shownTime(t), err
	case kindTimespan:
		return model.ParseTimespan(text)
	case kindInteger:
		return strconv.ParseInt(text, 10, 64)
	}
	return nil, model.ErrInvalid
}

func invalidValue(field string, l literal) error {
	shown := fmt.Sprint(l)
	switch l := l.(type) {
	case nil:
		shown = "None"
	case bool:
		shown = pythonBool(l)
	}
	return &model.FieldError{Field: field, Reason: fmt.Sprintf("Invalid value: `%s' for field `%s'", shown, field)}
}

// pythonBool is what Gnocchi makes of a boolean where it wants a text.
func pythonBool(b bool) string {
	if b {
		return "True"
	}
	return "False"
}
