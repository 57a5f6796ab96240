package report

import (
	"log/slog"
	"os"
)

// Run is what all benchmarks share: where results go, and how often they are taken.
type Run struct {
	Seed  uint64 // of all values
	Count int    // repeats of every benchmark; 0: 1

	Report *Report      // where results go; nil: standard output
	Logger *slog.Logger // progress; nil: none
}

// EnsureDefaults fills in what was left zero.
func (r *Run) EnsureDefaults() {
	if r.Count == 0 {
		r.Count = 1
	}
	if r.Report == nil {
		r.Report = New(os.Stdout)
	}
	if r.Logger == nil {
		r.Logger = slog.New(slog.DiscardHandler)
	}
}
