package labelset

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/gnocco-db/gnocco/model"
)

// Labels are the labels of a series, by name. The zero value has none.
type Labels []label

type label struct{ name, value string }

func (l *Labels) find(name string) (at int, found bool) {
	return slices.BinarySearchFunc(*l, name, func(l label, name string) int { return cmp.Compare(l.name, name) })
}

// Set sets a label. An empty value removes it.
func (l *Labels) Set(name, value string) {
	at, found := l.find(name)
	switch {
	case value == "" && found:
		*l = slices.Delete(*l, at, at+1)
	case value == "" || name == "":
	case found:
		(*l)[at].value = value
	default:
		*l = slices.Insert(*l, at, label{name, value})
	}
}

// Add is Set of a label that is not there yet, not even with an empty value. Otherwise it says so, and the label stays.
func (l *Labels) Add(name, value string) error {
	at, found := l.find(name)
	if found {
		return &model.FieldError{Field: "labels", Reason: fmt.Sprintf("label %.100q stands there twice", name)}
	}
	if name != "" {
		*l = slices.Insert(*l, at, label{name, value})
	}
	return nil
}

// SetAll sets the labels of another set.
func (l *Labels) SetAll(others Labels) {
	for _, other := range others {
		if other.value != "" {
			l.Set(other.name, other.value)
		}
	}
}

// Append appends the labels as model.Labels.
func (l Labels) Append(dst []byte) []byte {
	for _, l := range l {
		if l.value != "" {
			dst = model.AppendLabel(dst, l.name, l.value)
		}
	}
	return dst
}

// Get returns the value of a label, "" for none.
func (l Labels) Get(name string) string {
	for _, label := range l {
		if label.name == name {
			return label.value
		}
	}
	return ""
}
