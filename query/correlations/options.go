package correlations

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"github.com/gnocco-db/gnocco/correlate"
	"github.com/gnocco-db/gnocco/internal/budget"
)

// Options limit what one request may take.
type Options struct {
	MaxMetrics int // 0: 2000
	MaxValues  int // metrics x groups, 8 bytes each; 0: 20 million
	MaxPairs   int // strongest pairs kept of a result; 0: 100,000
	MaxJobs    int // finished ones kept in memory, the oldest goes first; 0: 32
	// Budget is the memory that requests share; nil: no bound. Results take an eighth of it at most: the oldest go.
	Budget *budget.Budget
	// Engine correlates by Pearson; nil for the CPU's. Its maker closes it.
	Engine correlate.Engine

	Wait time.Duration // how long a request waits for its result before it is told to come back; 0: 1 s
}

// EnsureDefaults fills in what was left zero.
func (o *Options) EnsureDefaults() {
	o.MaxMetrics = cmp.Or(o.MaxMetrics, 2000)
	o.MaxValues = cmp.Or(o.MaxValues, 20_000_000)
	o.MaxPairs = cmp.Or(o.MaxPairs, 100_000)
	o.MaxJobs = cmp.Or(o.MaxJobs, 32)
	o.Engine = cmp.Or[correlate.Engine](o.Engine, correlate.CPU{})
	o.Wait = cmp.Or(o.Wait, time.Second)
}

// Validate reports every fault of o at once.
func (o *Options) Validate() error {
	var faults []error
	for _, limit := range []struct {
		name  string
		value int
	}{
		{"MaxMetrics", o.MaxMetrics},
		{"MaxValues", o.MaxValues},
		{"MaxPairs", o.MaxPairs},
		{"MaxJobs", o.MaxJobs},
		{"Wait", int(o.Wait)},
	} {
		if limit.value < 0 {
			faults = append(faults, fmt.Errorf("correlations: %s is negative", limit.name))
		}
	}
	return errors.Join(faults...)
}
