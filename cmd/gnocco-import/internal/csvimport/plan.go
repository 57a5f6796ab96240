package csvimport

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/cmd/gnocco-import/internal/requests"
	"github.com/gnocco-db/gnocco/internal/client"
	"github.com/gnocco-db/gnocco/internal/counted"
	"github.com/gnocco-db/gnocco/model"
)

// The values of --archive-policy that are no policy's name. The default is auto for metrics of resources, rules for
// series.
const (
	policyAuto  = "auto"  // the one that keeps the measures
	policyRules = "rules" // the server decides
)

// Plan finds the metrics that the server has, chooses the archive policy of the others, and notes what the files hold
// and what the policies keep of it. It changes nothing on the server.
func (i *Importer) Plan(ctx context.Context) error {
	if err := i.unknownIgnored(); err != nil {
		return err
	}
	if err := i.find(ctx); err != nil {
		return err
	}
	candidates, err := i.assignPolicies(ctx)
	if err != nil {
		return err
	}
	if err := i.findNewest(); err != nil {
		return err
	}
	e, err := i.measure(candidates)
	if err != nil {
		return err
	}
	i.options.Note(e.String())
	if e.candidates > 0 {
		if err := i.choose(candidates, &e); err != nil {
			return err
		}
	}
	i.NoteKept()
	if e.ruled > 0 && i.options.DryRun {
		i.options.Note(fmt.Sprintf("the server's rules choose the archive policy of %s", counted.Of(e.ruled, "metric")))
	}
	return nil
}

// find finds the metrics of resources that the server has.
func (i *Importer) find(ctx context.Context) error {
	byResource := make(map[string][]*metric)
	for _, m := range i.metrics {
		if m.labels == "" && m.isUsed() {
			byResource[m.resource] = append(byResource[m.resource], m)
		}
	}
	var existing []*metric
	for _, name := range slices.Sorted(maps.Keys(byResource)) {
		metrics, err := i.options.Client.Metrics(ctx, name)
		if client.HasStatus(err, http.StatusNotFound) {
			continue // no such resource
		}
		if err != nil {
			return fmt.Errorf("csvimport: metrics of %s: %w", name, err)
		}
		for _, m := range byResource[name] {
			if found := metrics[m.name]; found != nil {
				if err := i.found(m, found); err != nil {
					return err
				}
				existing = append(existing, m)
			}
		}
	}
	i.noteOthers(existing)
	return i.eachArchive(ctx, existing, func(m *metric, a *requests.Archive) error { return m.foundArchive(a) })
}

// assignPolicies sets the archive policies of metrics, except where one of the candidates is to be chosen or the server
// decides.
func (i *Importer) assignPolicies(ctx context.Context) (candidates []*archivePolicy, err error) {
	described, err := i.options.Client.ArchivePolicies(ctx)
	if err != nil {
		return nil, fmt.Errorf("csvimport: archive policies: %w", err)
	}
	for k := range described {
		p, err := i.policy(&described[k])
		if err != nil {
			return nil, err
		}
		if candidate := *p; slices.Contains(p.methods, "mean") {
			candidate.items = slices.Clone(p.items)
			candidates = append(candidates, &candidate)
		}
	}
	if named := i.options.ArchivePolicy; named != "" && named != policyAuto && named != policyRules {
		if _, err := i.policyNamed(named); err != nil {
			return nil, err
		}
	}
	for _, m := range i.metrics {
		if m.policy == policyRules {
			m.policy = ""
		} else if m.policy == "" && m.labels == "" {
			m.policy = policyAuto
		}
		if wanted := m.expectedPolicy(); m.archive == nil && wanted != policyAuto && wanted != "" {
			p, err := i.policyNamed(wanted)
			if err != nil {
				return nil, err
			}
			if m.labels == "" || i.options.DryRun { // what a series has is known once it is there
				m.archive = p
			}
		}
	}
	return candidates, nil
}

// policyNamed returns an archive policy of the server, which creates those of series when it needs them.
func (i *Importer) policyNamed(name string) (*archivePolicy, error) {
	for _, d := range []*model.ArchivePolicy{seriesPolicy, counterPolicy} {
		if d.Name == name && i.policies[name] == nil {
			described := new(client.ArchivePolicy)
			text, err := json.Marshal(d)
			if err := errors.Join(err, json.Unmarshal(text, described)); err != nil {
				return nil, err
			}
			return i.policy(described)
		}
	}
	if p := i.policies[name]; p != nil {
		return p, nil
	}
	return nil, fmt.Errorf("csvimport: Archive policy %s does not exist", name)
}

// noteOthers notes the metrics that have another archive policy than the user's.
func (i *Importer) noteOthers(existing []*metric) {
	other := make(map[string]int)
	for _, m := range existing {
		if wanted := m.newMetric().ArchivePolicy; wanted != "" && wanted != policyAuto && wanted != m.archive.name {
			other[m.archive.name]++
		}
	}
	for _, name := range slices.Sorted(maps.Keys(other)) {
		i.options.Note(fmt.Sprintf("archive policy of %s stays %s: the one you name is for new ones",
			counted.Of(other[name], "metric"), name))
	}
}

// extent says what measures an importer has read.
type extent struct {
	measures    int64
	metrics     int
	first, last carbonara.Timestamp
	step        time.Duration // from one measure of a metric to the next, the median of some; 0 if there is no next one
	firstEqual  string        // the metric and time of the first measure that a later part replaces
	part        string        // of the files: a line, or a block
	repeated    int64         // measures that a later part has again
	replaced    int64         // measures of which a later part has another value

	ruled      int           // metrics whose policy the server chooses
	candidates int           // metrics whose policy is to be chosen
	least      time.Duration // of these, between two measures of one metric; 0 if there are no two
	grid       time.Duration // divides all their times
	span       time.Duration // the longest of one metric
}

// String describes the extent for the user.
func (e *extent) String() string {
	if e.measures == 0 {
		return "no measures"
	}
	show := func(t carbonara.Timestamp) string { return t.Time().UTC().Format("2006-01-02 15:04:05") }
	text := fmt.Sprintf("%s of %s, from %s to %s",
		counted.Of(e.measures, "measure"), counted.Of(e.metrics, "metric"), show(e.first), show(e.last))
	if e.step > 0 {
		text += fmt.Sprintf(", one every %v", e.step)
	}
	if e.repeated > 0 {
		text += fmt.Sprintf("\n%s there again in a later %s", counted.Of(e.repeated, "measure"), e.part)
	}
	if e.replaced > 0 {
		text += fmt.Sprintf("\n%s replaced: a later %s of the metric has the same time", counted.Of(e.replaced, "measure"), e.part)
	}
	if e.firstEqual != "" {
		text += ", first " + e.firstEqual
	}
	if e.replaced > 0 && e.part == "line" {
		text += ": if they belong to several metrics, say --metric-column, --resource-column or --label-column; if clocks were " +
			"put back, --timezone"
	}
	return text
}

// measure returns the extent of all measures read so far. The archive policies of metrics count them, and for metrics
// without one all candidates.
func (i *Importer) measure(candidates []*archivePolicy) (e extent, err error) {
	values := make([]float64, len(i.metrics)) // the last of each metric
	var steps []carbonara.Timestamp
	if e.part = "line"; i.ofBlocks {
		e.part = "block"
	}
	err = i.eachRow(func(r *row) error {
		if e.measures == 0 {
			e.first = r.time
		}
		e.last = r.time
		e.measures++
		m, before := i.metrics[r.metric], i.metrics[r.metric].before
		if before == r.time {
			if math.Float64bits(r.value) == math.Float64bits(values[r.metric]) {
				e.repeated++
			} else if e.replaced++; e.replaced == 1 {
				e.firstEqual = m.String() + " at " + r.time.Time().UTC().Format(time.RFC3339Nano)
			}
		} else if before >= 0 && len(steps) < 10_000 {
			steps = append(steps, r.time-before)
		}
		values[r.metric] = r.value
		if m.policy == policyAuto && m.archive == nil && before != r.time {
			for _, p := range candidates {
				p.see(r.time, before, m.newest)
			}
			if before >= 0 {
				e.least = min(cmp.Or(e.least, math.MaxInt64), time.Duration(r.time-before))
			}
			if e.grid = divisor(e.grid, time.Duration(r.time)); before < 0 {
				e.candidates++
				e.span = max(e.span, time.Duration(m.newest-r.time))
			}
		}
		m.see(r.time)
		return nil
	})
	for _, m := range i.metrics {
		if m.rows > 0 {
			e.metrics++
		}
		switch {
		case !m.isUsed():
		case m.archive != nil:
			m.archive.metrics++
			m.counted = true
		case m.policy == policyAuto:
			m.counted = true
		default:
			e.ruled++
		}
	}
	for _, p := range candidates {
		p.metrics = e.candidates
	}
	e.replaced += i.removed
	i.result.Replaced = e.replaced
	if len(steps) > 0 {
		slices.Sort(steps)
		e.step = time.Duration(steps[len(steps)/2])
	}
	return e, err
}

// divisor returns the greatest common divisor.
func divisor(a, b time.Duration) time.Duration {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// choose sets the archive policy of metrics to the coarsest candidate that keeps each measure in a group of its own, at
// its time if one does.
func (i *Importer) choose(candidates []*archivePolicy, e *extent) error {
	slices.SortStableFunc(candidates, func(a, b *archivePolicy) int {
		moves := func(p *archivePolicy) int {
			switch {
			case p.moved() == 0:
				return 0
			case p.finest() <= e.step:
				return 1 // by less than a step
			}
			return 2
		}
		return cmp.Or(cmp.Compare(b.kept(), a.kept()), cmp.Compare(moves(a), moves(b)),
			cmp.Compare(b.finest(), a.finest()))
	})
	proposed := e.proposal()
	var chosen *archivePolicy
	if len(candidates) > 0 && candidates[0].kept() == candidates[0].measures {
		chosen = candidates[0]
		i.policies[chosen.name].add(chosen)
	} else if i.options.CreateArchivePolicy {
		chosen = &archivePolicy{name: proposed.Name}
		i.create = proposed
		i.options.Note(fmt.Sprintf("archive policy %s is to be created, and keeps each measure: %s", proposed.Name, proposed))
	} else {
		text := "no archive policy keeps these measures"
		if len(candidates) > 0 {
			text += ", not even the best one: " + candidates[0].String()
		}
		return refusal("%s; name one by --archive-policy, say --create-archive-policy, or create one, such as %s", text, proposed)
	}
	for _, m := range i.metrics {
		if m.policy == policyAuto {
			m.policy = chosen.name
		}
	}
	return nil
}

// newPolicy is an archive policy as the API takes it.
type newPolicy struct {
	Name       string              `json:"name"`
	Definition []map[string]string `json:"definition"`
}

func (p *newPolicy) String() string {
	text, err := json.Marshal(p)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// proposal returns an archive policy that keeps each measure in a group of its own, for twice as long as the files are.
// Groups no longer than the shortest step have one measure each. They keep the times as well if they divide them all.
func (e *extent) proposal() *newPolicy {
	const most = 60 // times as short as the shortest step
	granularity := cmp.Or(e.least, 24*time.Hour)
	if e.grid > 0 && e.grid <= granularity && granularity/e.grid <= most {
		granularity = e.grid
	} else {
		units := []time.Duration{24 * time.Hour, time.Hour, time.Minute, time.Second, time.Millisecond,
			time.Microsecond, time.Nanosecond}
		granularity = units[slices.IndexFunc(units, func(unit time.Duration) bool { return unit <= granularity })]
	}
	days := 2*int(e.span/(24*time.Hour)) + 1
	seconds := strconv.FormatFloat(granularity.Seconds(), 'f', -1, 64)
	policy := &newPolicy{Name: strings.ReplaceAll(fmt.Sprintf("every-%ss-for-%dd", seconds, days), ".", "_"),
		Definition: []map[string]string{{"granularity": seconds + "s", "timespan": fmt.Sprint(days) + "d"}}}
	if granularity < time.Hour && time.Hour%granularity == 0 { // history goes in by periods of the coarsest granularity
		policy.Definition = append(policy.Definition, map[string]string{"granularity": "1h",
			"timespan": fmt.Sprint(days) + "d"})
	}
	return policy
}

// NoteKept notes what archive policies keep, of metrics of which the user was not told yet.
func (i *Importer) NoteKept() {
	for _, name := range slices.Sorted(maps.Keys(i.policies)) {
		if p := i.policies[name]; p.metrics > p.reported {
			p.reported = p.metrics
			i.options.Note(p.String())
		}
	}
}

// Result returns what was done so far, and what archive policies keep.
func (i *Importer) Result() Result {
	r := i.result
	for _, p := range i.policies {
		r.Expired += p.expired
		r.Merged += p.measures - p.expired - p.kept()
	}
	return r
}

// policy returns the archive policy that the server describes so.
func (i *Importer) policy(described *client.ArchivePolicy) (*archivePolicy, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	p := i.policies[described.Name]
	if p == nil {
		var err error
		if p, err = newArchivePolicy(described); err != nil {
			return nil, err
		}
		if len(p.items) == 0 {
			return nil, errors.New("csvimport: archive policy " + p.name + " has no granularity")
		}
		i.policies[p.name] = p
	}
	return p, nil
}
