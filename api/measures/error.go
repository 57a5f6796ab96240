package measures

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gnocco-db/gnocco/model"
)

// DecodeError says why a body was refused. It is an ErrInvalid.
type DecodeError struct {
	Syntax  bool     // not JSON at all: Gnocchi's cause is "Unable to decode body" then, else "Invalid input"
	Reason  string   // in Gnocchi's words
	Path    []string // what Gnocchi names: nothing, or the metric as the body has it
	Element []string // the element itself: metric in a batch, index of the measure, "timestamp" or "value"
}

// Error names the element.
func (e *DecodeError) Error() string {
	if len(e.Element) == len(e.Path) {
		return e.Reason
	}
	return e.Reason + " (data" + pathText(e.Element) + ")"
}

func (e *DecodeError) Unwrap() error { return model.ErrInvalid }

// at returns e with steps put in front of the element.
func (e *DecodeError) at(steps ...string) *DecodeError {
	e.Element = append(steps, e.Element...)
	return e
}

// inDictionary returns e with keys put in front of its path and element, as the validation of a dictionary does. It
// clones the keys.
func (e *DecodeError) inDictionary(keys ...string) *DecodeError {
	steps := make([]string, len(keys))
	for i, key := range keys {
		steps[i] = strings.Clone(key)
	}
	e.Path = steps
	e.Reason += " for dictionary value @ data" + pathText(steps)
	return e.at(slices.Clone(steps)...)
}

func pathText(steps []string) string {
	var text strings.Builder
	for _, step := range steps {
		if strings.Trim(step, "0123456789") == "" && step != "" {
			fmt.Fprintf(&text, "[%s]", step)
		} else {
			fmt.Fprintf(&text, "['%s']", step)
		}
	}
	return text.String()
}

// extraKey is the fault of the last of keys.
func extraKey(keys ...string) *DecodeError {
	e := (&DecodeError{}).inDictionary(keys...)
	e.Reason = "extra keys not allowed @ data" + pathText(e.Path)
	return e
}

// twiceFault is of the last of keys.
func twiceFault(keys ...string) *DecodeError {
	return (&DecodeError{Reason: "the key stands there twice"}).inDictionary(keys...)
}

// The faults of a list of measures, in Gnocchi's words.

func formatFault() *DecodeError { return &DecodeError{Reason: "unexpected measures format"} }

func valueFault() *DecodeError { return &DecodeError{Reason: "unexpected measures value"} }

func timestampFault(err error) *DecodeError {
	return &DecodeError{Reason: fmt.Sprintf("unexpected timestamp '%s'", err)}
}
