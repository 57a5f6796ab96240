package query

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/model"
)

// Archives are the stored aggregates of all metrics, in this process and others. A nil Staleness asks for fresh
// answers.
type Archives interface {
	GroupReader

	// Prefetch asks the processes that hold these metrics for all reads at once, and returns a reader that answers them
	// from memory. Reads that this process can answer itself are left to Groups.
	Prefetch(ctx context.Context, reads []model.Read, staleness *Staleness) (GroupReader, error)

	// Refresh returns once everything accepted for these metrics before the call is visible to Groups.
	Refresh(ctx context.Context, metrics []uuid.UUID) error

	// Sizes returns the bytes that each metric takes, in the order of the metrics.
	Sizes(ctx context.Context, metrics []uuid.UUID, staleness *Staleness) ([]model.ArchiveSize, error)

	// LastMeasures returns the timestamp of each metric's newest processed measure, 0 for none, in the order of the
	// metrics.
	LastMeasures(ctx context.Context, metrics []uuid.UUID) ([]carbonara.Timestamp, error)

	// Content returns a part of the content of a metric's archive, or puts one into it.
	Content(ctx context.Context, r *model.ContentRequest) (model.Content, error)

	// Replace takes measures that were accepted for metrics before the call out of their archives, and puts others in
	// their place. With an error some archives may be done; the result says how many.
	Replace(ctx context.Context, metrics []uuid.UUID, r *model.Replacement) (model.Replaced, error)
}

// GroupReader reads the groups of a metric. It is for several goroutines at once.
type GroupReader interface {
	// Groups sets dst to the groups that read asks for, without those that the archive policy no longer keeps. A metric
	// without measures has no groups: that is no error.
	Groups(ctx context.Context, read model.Read, staleness *Staleness, dst *carbonara.Groups) error

	// EachGroups is Groups for several metrics of one sack: use is called after each read, with its number. It is
	// cheapest in the order of their IDs. Use must not read: the archive may be locked.
	EachGroups(ctx context.Context, reads []model.Read, staleness *Staleness, dst *carbonara.Groups,
		use func(i int) error) error

	// Sack returns the number of a metric's sack.
	Sack(metric uuid.UUID) int
}

// Staleness is how old the answer to a request may be, and how old it becomes. All reads of the request share one.
type Staleness struct {
	Limit time.Duration
	age   atomic.Int64 // of the oldest part of the answer, in ns; 0: all is fresh
}

// Use notes that a part of the answer has this age.
func (s *Staleness) Use(age time.Duration) {
	age = max(age, 1)
	for {
		old := s.age.Load()
		if int64(age) <= old || s.age.CompareAndSwap(old, int64(age)) {
			return
		}
	}
}

// Age returns the age of the oldest part; 0 if all is fresh.
func (s *Staleness) Age() time.Duration { return time.Duration(s.age.Load()) }
