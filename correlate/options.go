package correlate

import (
	"cmp"
	"errors"
	"fmt"
	"runtime"
)

// Options say what is computed, and with how much.
type Options struct {
	Columns     int
	MaxLag      int   // shifts looked at, in rows either way; 0: none
	MinOverlap  int   // fewest rows that both columns of a pair have; fewer give NaN; 0: 2
	MemoryBytes int64 // for the sums of pairs and the rows under way; 0: 1 GiB
	Workers     int   // goroutines; 0: one a core
}

// EnsureDefaults fills in what was left zero.
func (o *Options) EnsureDefaults() {
	o.MinOverlap = cmp.Or(o.MinOverlap, 2)
	o.MemoryBytes = cmp.Or(o.MemoryBytes, 1<<30)
	o.Workers = cmp.Or(o.Workers, runtime.GOMAXPROCS(0))
}

// Validate reports every fault of o at once.
func (o *Options) Validate() error {
	var faults []error
	refuse := func(bad bool, format string, args ...any) {
		if bad {
			faults = append(faults, fmt.Errorf("correlate: "+format, args...))
		}
	}
	refuse(o.Columns < 1, "Columns is %d, not positive", o.Columns)
	refuse(o.MaxLag < 0, "MaxLag is negative")
	refuse(o.MinOverlap < 2, "MinOverlap is %d, not at least 2", o.MinOverlap)
	refuse(o.MemoryBytes < 0, "MemoryBytes is negative")
	refuse(o.Workers < 0, "Workers is negative")
	return errors.Join(faults...)
}
