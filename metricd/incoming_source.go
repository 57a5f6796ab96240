package metricd

import (
	"context"

	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/metricd/intake"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/storage/incoming"
)

// SetSources replaces what Options.Sources said. A store has to be made known before it accepts its first measure.
func (p *Metricd) SetSources(s intake.Sources) { p.known.Store(&s) }

// A Source is an incoming store as its readers see it: *incoming.Store where this process holds it, else a
// RemoteSource.
type Source interface {
	// ID is the store's identity, under which archives keep their marks.
	ID() string
	// Ready carries a token once the sack got records.
	Ready(sack int) <-chan struct{}
	// Drain returns the records behind a sequence, oldest first, as many as fit into maxBytes, and again when it is
	// called again with that sequence. It does not wait.
	Drain(sack int, after uint64, maxBytes int) ([]incoming.Record, error)
	// Frontier returns a stamp that is earlier than those of all records which the sack has behind a sequence, now and
	// later. ok is false if there are such records already, or if it cannot be told.
	Frontier(sack int, after uint64) (f incoming.Stamp, ok bool)
	// Acknowledge says that the archives hold all up to a sequence. It does not wait.
	Acknowledge(sack int, upTo uint64) error
}

// A RemoteSource is a Source of another process. It brings the records over in the background; Drain returns those that
// are here.
type RemoteSource interface {
	Source
	// Follow begins to bring over what the sack got behind a sequence.
	Follow(sack int, after uint64)
	// Unfollow ends that. Earlier acknowledgements are still reported.
	Unfollow(sack int)
	// Fetch brings over what the store has accepted for the sack, as much as fits into one answer, and reports whether
	// there is more.
	Fetch(ctx context.Context, sack int) (more bool, err error)
}

// Index answers the workers' questions about metrics: *index.Store where this process holds it, else a client of the
// process that does.
type Index interface {
	// Generation moves when what was said about a metric may have changed.
	Generation() uint64
	// Find sets found[i] to the metric ids[i], nil for one that is unknown or deleted. It fails if that cannot be told.
	Find(ctx context.Context, ids []uuid.UUID, found []*model.Metric) error
	// Revive takes the end of resources that ended no later than the timestamp given for them.
	Revive(ctx context.Context, newest map[uuid.UUID]carbonara.Timestamp, at carbonara.Timestamp) error
	// Growing moves series whose first measures never fell, but for resets, to the policy of counters, if their types
	// are unknown. Find returns them as they are then, or a little later.
	Growing(ctx context.Context, ids []uuid.UUID) error
	// DeletedMetrics returns up to limit metrics that are marked deleted.
	DeletedMetrics(ctx context.Context, limit int) ([]uuid.UUID, error)
	// Expunge forgets deleted metrics, whose archives are gone.
	Expunge(ctx context.Context, ids ...uuid.UUID) error
}
