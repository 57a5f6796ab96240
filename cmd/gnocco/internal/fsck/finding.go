package fsck

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/internal/counted"
)

// Finding is one thing that is not as it should be.
type Finding struct {
	Store  string // "index", "incoming/<node>", "sacks/003"
	Damage bool   // false: worth knowing, but nothing is lost
	What   string

	// Of damage to a split or raw series:
	Metric      uuid.UUID
	Name        string        // of the metric, with its resource; "" if unknown
	Granularity time.Duration // 0: not a split
	From, To    carbonara.Timestamp
	Remedy      *Remedy // nil: not determined

	// Refused: serve does without the store. No repair helps; its loss can be accepted.
	Refused bool
	// GivenUp: that was done. Lost says what it meant, line by line.
	GivenUp bool
	Lost    []string

	Repaired bool
}

// Remedy is what is known of the groups that damage took away.
type Remedy struct {
	Sources []Source
	Lost    carbonara.Timestamp // groups that start before this are lost; From if none are
	Partial bool                // groups from a finer granularity come without percentiles
}

// Source is where groups can be computed from again.
type Source struct {
	Name   string // "raw series", or a granularity
	Groups int
}

// String is the finding as a line or several.
func (f Finding) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s", f.Store, f.What)
	if f.Metric != uuid.Nil {
		fmt.Fprintf(&b, "\n    metric %s", f.Metric)
		if f.Name != "" {
			fmt.Fprintf(&b, " (%s)", f.Name)
		}
	}
	if f.Granularity > 0 {
		fmt.Fprintf(&b, ", granularity %v, groups from %s to %s", f.Granularity, stamp(f.From), stamp(f.To))
	}
	if r := f.Remedy; r != nil {
		verb := "can be computed again"
		if f.Repaired {
			verb = "computed again"
		}
		for _, s := range r.Sources {
			fmt.Fprintf(&b, "\n    %s: %s from the %s", verb, counted.Of(s.Groups, "group"), s.Name)
		}
		if r.Partial {
			b.WriteString("\n    percentiles of groups from a finer granularity are lost")
		}
		if r.Lost > f.From {
			fmt.Fprintf(&b, "\n    lost: groups from %s to %s", stamp(f.From), stamp(min(r.Lost, f.To)))
		}
	}
	for _, line := range f.Lost {
		b.WriteString("\n    " + line)
	}
	return b.String()
}

func stamp(t carbonara.Timestamp) string {
	if t == carbonara.MaxTimestamp {
		return "the end"
	}
	return t.Time().Format(time.RFC3339Nano)
}

// Report is all that a check found.
type Report struct {
	Stores, Metrics, Splits, RawSeries, Blocks int // walked
	Findings                                   []Finding
}

// Damaged tells how many findings are damage that was not repaired.
func (r *Report) Damaged() int {
	n := 0
	for _, f := range r.Findings {
		if f.Damage && !f.Repaired {
			n++
		}
	}
	return n
}

// Refused returns the names of the stores that serve does without, in the order of the findings.
func (r *Report) Refused() []string {
	var names []string
	for _, f := range r.Findings {
		if f.Refused && !f.GivenUp && !slices.Contains(names, f.Store) {
			names = append(names, f.Store)
		}
	}
	return names
}

// Repairable reports whether a repair may help some of the damage that is left.
func (r *Report) Repairable() bool {
	refused := r.Refused()
	return slices.ContainsFunc(r.Findings, func(f Finding) bool {
		return f.Damage && !f.Repaired && !slices.Contains(refused, f.Store)
	})
}

// Print writes the report for people.
func (r *Report) Print(out io.Writer) error {
	repaired := 0
	for _, f := range r.Findings {
		mark := "note"
		switch {
		case f.GivenUp:
			mark = "given up"
			repaired++
		case f.Repaired:
			mark = "repaired"
			repaired++
		case f.Damage:
			mark = "DAMAGE"
		}
		if _, err := fmt.Fprintf(out, "%-8s %s\n", mark, f); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(out, "%s, %s, %s, %d raw series, %s: %d damaged, %d repaired, %s\n", counted.Of(r.Stores, "store"),
		counted.Of(r.Metrics, "metric"), counted.Of(r.Splits, "split"), r.RawSeries, counted.Of(r.Blocks, "incoming block"),
		r.Damaged(), repaired, counted.Of(len(r.Findings)-r.Damaged()-repaired, "note"))
	return err
}
