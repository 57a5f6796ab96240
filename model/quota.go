package model

import (
	"cmp"
	"fmt"
	"strings"
	"time"
)

// Quota bounds what a project uses. In a quota of its own, 0 stands for the server's default, and Unlimited for no
// bound; in a default, and in the quota in force, 0 is no bound.
type Quota struct {
	Series   int64 `json:"series"`              // metrics that are not deleted
	Measures int64 `json:"measures_per_second"` // accepted, by all processes together
	Requests int64 `json:"requests_per_second"` // with credentials, to all processes together
}

// Nouns that begin sentences.
const (
	NounProject = "Project"
	NounQuota   = "Own quota of project"
)

// Unlimited is a bound that an exception lifts.
const Unlimited = -1

// Or returns the quota in force: q where it says something, else the default.
func (q Quota) Or(defaults Quota) Quota {
	inForce := func(own, byDefault int64) int64 {
		own = cmp.Or(own, byDefault)
		return max(own, 0)
	}
	return Quota{inForce(q.Series, defaults.Series), inForce(q.Measures, defaults.Measures),
		inForce(q.Requests, defaults.Requests)}
}

// Validate reports a bound that is below Unlimited.
func (q Quota) Validate() error {
	if min(q.Series, q.Measures, q.Requests) < Unlimited {
		return fmt.Errorf("a quota is a positive number, 0 for the default, or %d for none", Unlimited)
	}
	return nil
}

// QuotaError says that a project may not use more.
type QuotaError struct {
	Project string
	Of      string // what is bounded: series, measures a second or requests a second
	Most    int64
	Grew    string        // what takes the most of it, as the end of a sentence; "" for nothing
	After   time.Duration // until it may try again; 0: until series are deleted, or the quota is raised
}

func (e *QuotaError) Error() string {
	text := fmt.Sprintf("Project %s has a quota of %d %s", e.Project, e.Most, e.Of)
	if e.Grew != "" {
		text += ": " + e.Grew
	}
	return text
}

// ProjectOf returns the project of a creator, who is "user:project". Where there are no projects, it is the user.
func ProjectOf(creator string) string {
	if _, project, _ := strings.Cut(creator, ":"); project != "" {
		return project
	}
	return creator
}

// Widest names what most of new metrics differ in: their label with the most values, or else the most frequent name.
func Widest(metrics []*Metric) string {
	values, names := map[string]map[string]bool{}, map[string]int{}
	label, name := "", ""
	for _, m := range metrics {
		for key, value := range m.Labels.All() {
			if values[key] == nil {
				values[key] = map[string]bool{}
			}
			if values[key][value] = true; len(values[key]) > len(values[label]) {
				label = key
			}
		}
		if names[m.Name]++; names[m.Name] > names[name] || names[m.Name] == 1 && len(names) == 1 {
			name = m.Name
		}
	}
	if label != "" {
		return fmt.Sprintf("of these, label %s (%d) has the most values", label, len(values[label]))
	}
	return fmt.Sprintf("of these, the most are called %q (%d)", name, names[name])
}
