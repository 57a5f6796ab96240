package csvimport

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/internal/client"
	"github.com/gnocco-db/gnocco/model"
)

// describe tells the user how a file is read.
func (f *file) describe() {
	say := func(format string, args ...any) { f.options.Note(f.name + ": " + fmt.Sprintf(format, args...)) }
	say("times in %s: %v", f.times.Names(f.names), &f.times.Form)
	if f.times.Far > 0 {
		say("%d of its first times lie before 1970 or after 2261, which no archive keeps: their lines are rejected", f.times.Far)
	}
	var values []string
	for _, column := range f.values {
		text := f.names[column.index]
		if how := column.form.String(); how != "" {
			text += " (" + how + ")"
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
	if len(f.text) > 0 {
		say("left out, no numbers: %s", someOf(f.text))
	}
	if f.nameless > 0 {
		say("%d columns without a name are left out", f.nameless)
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

// Extent says what measures an importer has read.
type Extent struct {
	Measures    int64
	Metrics     int
	First, Last carbonara.Timestamp
	Step        time.Duration // from one measure of a metric to the next, the median of some; 0 if there is no next one
	Equal       int64         // measures that a later line with their metric and time replaces
	FirstEqual  string        // the metric and time of the first of them
}

// String describes the extent for the user.
func (e Extent) String() string {
	if e.Measures == 0 {
		return "no measures"
	}
	show := func(t carbonara.Timestamp) string { return t.Time().UTC().Format("2006-01-02 15:04:05") }
	text := fmt.Sprintf("%d measures of %d metrics, from %s to %s", e.Measures, e.Metrics, show(e.First), show(e.Last))
	if e.Step > 0 {
		text += fmt.Sprintf(", one every %v", e.Step)
	}
	if e.Equal > 0 {
		text += fmt.Sprintf("\n%d measures have the time of a later line of their metric, which replaces them, first %s: if they "+
			"belong to several metrics, say --metric-column, --resource-column or --label-column", e.Equal, e.FirstEqual)
	}
	return text
}

// Extent returns that of all measures read so far.
func (i *Importer) Extent() (e Extent, err error) {
	lasts, seen := make([]carbonara.Timestamp, len(i.metrics)), make([]bool, len(i.metrics))
	var steps []carbonara.Timestamp
	err = i.rows.each(func(r *row) error {
		if e.Measures == 0 {
			e.First = r.time
		}
		e.Last = r.time
		e.Measures++
		switch before, m := lasts[r.metric], i.metrics[r.metric]; {
		case before == r.time && seen[r.metric]:
			if e.Equal++; e.Equal == 1 {
				e.FirstEqual = m.String() + " at " + r.time.Time().UTC().Format(time.RFC3339Nano)
			}
		case before > 0 && len(steps) < 10_000:
			steps = append(steps, r.time-before)
		}
		lasts[r.metric], seen[r.metric] = r.time, true
		return nil
	})
	for _, m := range i.metrics {
		if m.rows > 0 {
			e.Metrics++
		}
	}
	if len(steps) > 0 {
		slices.Sort(steps)
		e.Step = time.Duration(steps[len(steps)/2])
	}
	return e, err
}

// ChoosePolicy sets the archive policy of new metrics to the server's that keeps measures so far apart, for so long,
// each in a group of its own, has means, and is the coarsest of such.
func (i *Importer) ChoosePolicy(ctx context.Context, e Extent) (name string, err error) {
	policies, err := i.options.Client.ArchivePolicies(ctx)
	if err != nil {
		return "", fmt.Errorf("csvimport: archive policies: %w", err)
	}
	span := time.Duration(e.Last - e.First)
	var best time.Duration
	for _, policy := range policies {
		l, err := newLimits(&policy, e.Last)
		if err != nil {
			return "", err
		}
		finest := l.items[0]
		fits := (e.Step == 0 || finest.granularity <= e.Step) && (finest.timespan == 0 || finest.timespan > span)
		if fits && finest.granularity > best && slices.Contains(policy.Methods, "mean") {
			best, name = finest.granularity, policy.Name
		}
	}
	if name == "" {
		return "", fmt.Errorf("csvimport: no archive policy keeps a measure every %v for %v; create one, such as %s", e.Step,
			span.Round(time.Hour)+time.Hour, proposal(e.Step, span))
	}
	i.options.ArchivePolicy = name
	for _, m := range i.metrics {
		m.policy = name
	}
	return name, nil
}

// proposal returns the body of a request for an archive policy.
func proposal(step, span time.Duration) string {
	return fmt.Sprintf(`{"name": "imported", "definition": [{"granularity": "%ss", "timespan": "%dd"}]}`,
		strconv.FormatFloat(max(step, time.Millisecond).Seconds(), 'f', -1, 64), 2*int(span/(24*time.Hour))+1)
}

// Preview counts the measures that archive policies do not keep, or not at their finest granularity, as Send does. It
// leaves out metrics whose policies are those of the server's rules.
func (i *Importer) Preview(ctx context.Context) (Result, error) {
	known := make(map[string]*client.ArchivePolicy)
	for _, m := range i.metrics {
		if m.policy = m.expectedPolicy(); m.policy == "" {
			continue
		}
		policy, ok := known[m.policy]
		if !ok {
			var err error
			if policy, err = i.policyNamed(ctx, m.policy); err != nil {
				return i.result, fmt.Errorf("csvimport: archive policy %s: %w", m.policy, err)
			}
			known[m.policy] = policy
		}
		var err error
		if m.limits, err = newLimits(policy, m.newest); err != nil {
			return i.result, err
		}
	}
	i.notePolicies(i.metrics)
	err := i.rows.each(func(r *row) error {
		i.metrics[r.metric].see(r.time)
		return nil
	})
	for _, m := range i.metrics {
		m.limits.count(&i.result)
	}
	return i.result, err
}

// policyNamed returns an archive policy of the server, which creates those of series when it needs them.
func (i *Importer) policyNamed(ctx context.Context, name string) (*client.ArchivePolicy, error) {
	p, err := i.options.Client.ArchivePolicy(ctx, name)
	if !client.HasStatus(err, http.StatusNotFound) {
		return p, err
	}
	for _, d := range []*model.ArchivePolicy{seriesPolicy, counterPolicy} {
		if d.Name == name {
			text, err := json.Marshal(d)
			return p, errors.Join(err, json.Unmarshal(text, p))
		}
	}
	return p, err
}
