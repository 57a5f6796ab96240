package csvimport

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/internal/client"
	"github.com/gnocco-db/gnocco/internal/counted"
	"github.com/gnocco-db/gnocco/model"
)

// archivePolicy is one of the server's, and counts what it keeps of the measures that it sees.
type archivePolicy struct {
	name     string
	methods  []string
	items    []item // by granularity
	metrics  int    // that have it
	reported int    // of these, when the user was told
	measures int64  // seen
	expired  int64  // of these, older than all timespans
}

// item is one item of a policy's definition.
type item struct {
	granularity time.Duration
	timespan    time.Duration // 0: without limit
	measures    int64         // that no finer granularity keeps
	groups      int64         // of these
	moved       int64         // those that are not at the start of their group
}

func newArchivePolicy(described *client.ArchivePolicy) (*archivePolicy, error) {
	p := &archivePolicy{name: described.Name, methods: described.Methods}
	for _, defined := range described.Definition {
		var one item
		var err error
		if one.granularity, err = model.ParseTimespan(defined.Granularity); err != nil {
			return nil, fmt.Errorf("archive policy %s: granularity %q: %w", p.name, defined.Granularity, err)
		}
		if defined.Timespan != nil {
			if one.timespan, err = model.ParseTimespan(*defined.Timespan); err != nil {
				return nil, fmt.Errorf("archive policy %s: timespan %q: %w", p.name, *defined.Timespan, err)
			}
		}
		p.items = append(p.items, one)
	}
	slices.SortFunc(p.items, func(a, b item) int { return cmp.Compare(a.granularity, b.granularity) })
	return p, nil
}

// from returns the start of the oldest group that is kept of a metric whose newest measure is at newest.
func (i *item) from(newest carbonara.Timestamp) carbonara.Timestamp {
	group := newest.Floor(i.granularity)
	if span := carbonara.Timestamp(i.timespan); span > 0 && span <= group {
		return (group - span).Floor(i.granularity).Add(i.granularity)
	}
	return 0
}

// see counts a measure of a metric whose newest one is at newest. The one before was at before, -1 for none.
func (p *archivePolicy) see(t, before, newest carbonara.Timestamp) {
	p.measures++
	for k := range p.items {
		i := &p.items[k]
		if t < i.from(newest) {
			continue
		}
		group := t.Floor(i.granularity)
		i.measures++
		if before < group {
			i.groups++
		}
		if t > group {
			i.moved++
		}
		return
	}
	p.expired++
}

// add adds what other has counted of other metrics.
func (p *archivePolicy) add(other *archivePolicy) {
	p.metrics += other.metrics
	p.measures += other.measures
	p.expired += other.expired
	for k, i := range other.items {
		p.items[k].measures += i.measures
		p.items[k].groups += i.groups
		p.items[k].moved += i.moved
	}
}

// kept returns how many measures there are afterwards, each in a group of its own or merged with others.
func (p *archivePolicy) kept() (n int64) {
	for _, i := range p.items {
		n += i.groups
	}
	return n
}

// moved returns how many measures are not at the start of their group.
func (p *archivePolicy) moved() (n int64) {
	for _, i := range p.items {
		n += i.moved
	}
	return n
}

// finest returns the finest granularity.
func (p *archivePolicy) finest() time.Duration { return p.items[0].granularity }

// coarsest returns the coarsest granularity.
func (p *archivePolicy) coarsest() time.Duration { return p.items[len(p.items)-1].granularity }

// String says what the policy keeps of the measures.
func (p *archivePolicy) String() string {
	kept := p.kept()
	how := fmt.Sprintf("%d of", kept)
	if kept == p.measures {
		how = "each of"
	}
	text := fmt.Sprintf("archive policy %s keeps %s %s of %s", p.name, how,
		counted.Of(p.measures, "measure"), counted.Of(p.metrics, "metric"))
	if kept > 0 && p.measures >= 2*kept {
		text += fmt.Sprintf(", 1 of %d", (p.measures+kept/2)/kept)
	}
	var parts []string
	for _, i := range p.items {
		switch {
		case i.measures > i.groups:
			parts = append(parts, fmt.Sprintf("%d in %s of %v", i.measures, counted.Of(i.groups, "group"), i.granularity))
		case i.moved > 0:
			parts = append(parts, fmt.Sprintf("%d with the time of their group of %v", i.moved, i.granularity))
		}
	}
	if p.expired > 0 {
		parts = append(parts, fmt.Sprintf("%d older than all its timespans", p.expired))
	}
	if len(parts) > 0 {
		text += ": " + strings.Join(parts, ", ")
	}
	return text
}
