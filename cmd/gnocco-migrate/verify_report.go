package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"time"

	"github.com/gnocco-db/gnocco/internal/counted"
)

// differences returns the number of differences.
func (v *verification) differences() (n int) {
	for _, c := range v.definitions {
		n += c.differs
	}
	for _, c := range v.methods {
		n += c.differs
	}
	return n
}

// report writes what was compared, for somebody to sign.
func (v *verification) report(w io.Writer, signer string) {
	fmt.Fprintf(w, "Comparison of a Gnocchi with its copy\n\n")
	fmt.Fprintf(w, "source   %s\ncopy     %s\n", withoutPassword(v.from.base), withoutPassword(v.to.base))
	fmt.Fprintf(w, "from     %s\nuntil    %s\n\n", v.begun.UTC().Format(time.RFC3339),
		v.ended.UTC().Format(time.RFC3339))
	line := func(c *comparison, worst string) {
		fmt.Fprintf(w, "%-20s%12d%12d%12d%12d%14s\n", c.what, c.from, c.to, c.same, c.differs, worst)
	}
	fmt.Fprintf(w, "%-20s%12s%12s%12s%12s%14s\n", "", "source", "copy", "equal", "different", "worst")
	for i := range v.definitions {
		line(&v.definitions[i], "")
	}
	fmt.Fprintf(w, "\nvalues of %s\n", counted.Of(v.metrics, "metric"))
	total := comparison{what: "all values"}
	methods := slices.Sorted(maps.Keys(v.methods))
	for _, name := range methods {
		c := v.methods[name]
		line(c, fmt.Sprintf("%.1e", c.worst))
		total.add(c)
	}
	line(&total, fmt.Sprintf("%.1e", total.worst))
	fmt.Fprintf(w, "\nEqual means: the same to the last bit, std within %.0e. "+
		"The source has %s older than the timespan\n"+
		"of the newest group, not kept in the copy.\n", tolerance, counted.Of(v.expired, "value"))
	examples := func(c *comparison) {
		for _, e := range c.examples {
			fmt.Fprintf(w, "differs: %s: %s\n", c.what, e)
		}
	}
	for i := range v.definitions {
		examples(&v.definitions[i])
	}
	for _, name := range methods {
		examples(v.methods[name])
	}
	fmt.Fprintf(w, "\ndifferences: %d\n\nname, date, signature: %s\n", v.differences(), signer)
}
