package csvimport

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gnocco-db/gnocco/internal/counted"
)

// describe tells the user how a file is read.
func (f *file) describe() {
	say := func(format string, args ...any) { f.options.Note(f.name + ": " + fmt.Sprintf(format, args...)) }
	say("times in %s: %v", f.times.Names(f.names), &f.times.Form)
	if f.times.Far > 0 {
		say("%d of its first times: before 1970 or after 2261, which no archive keeps: such lines are rejected", f.times.Far)
	}
	var values []string
	for _, column := range f.values {
		text := f.names[column.index]
		if how := column.form.String(); how != "" {
			text += " (" + how + ")"
		}
		if f.units != nil && f.units[column.index] != "" {
			text += " [" + f.units[column.index] + "]"
		}
		values = append(values, text)
	}
	say("values in %s", someOf(values))
	for _, i := range f.columns.labels {
		say("column %s is a label", f.names[i])
	}
	for _, i := range f.columns.metric {
		say("column %s names the metric", f.names[i])
	}
	if f.exported {
		say("its columns are those of gnocco export csv")
	}
	if f.resource >= 0 {
		say("column %s names the resource", f.names[f.resource])
	}
	if len(f.likelyGaps) > 0 {
		say("numbers that often stand for no value, and are sent: %s (see --gap)", someOf(f.likelyGaps))
	}
	if len(f.renamed) > 0 {
		say("named otherwise: %s", someOf(f.renamed))
	}
	if len(f.ids) > 0 {
		say("left out, they identify something: %s", someOf(f.ids))
	}
	if text := slices.DeleteFunc(slices.Clone(f.text), func(name string) bool {
		return slices.Contains(f.ids, name)
	}); len(text) > 0 {
		say("left out, no numbers: %s", someOf(text))
	}
	if f.nameless > 0 {
		say("left out: %s without a name", counted.Of(f.nameless, "column"))
	}
}

// someOf lists texts, or the first ones.
func someOf(texts []string) string {
	const most = 12
	if len(texts) > most {
		return strings.Join(texts[:most], ", ") + fmt.Sprintf(" and %d more", len(texts)-most)
	}
	return strings.Join(texts, ", ")
}
