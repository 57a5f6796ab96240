package activity

import (
	"context"
	"strings"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
)

// maxText is how much of a query's text is shown.
const maxText = 512

// Query is a query whose client waits. It ends with Tracker.End.
type Query struct {
	// User, Project, Route and Kill are set before Begin.
	User, Project, Route string
	Kill                 func(by string) // ends the query

	ByRule  atomic.Bool // it read results of recording rules
	tracker *Tracker
	id      uint64
	began   time.Time
	text    atomic.Pointer[string]

	waiting         atomic.Bool  // for its turn
	metrics, groups atomic.Int64 // read from archives
}

type contextKey struct{}

// Key is the key of a context's Query, for contexts that hold one without context.WithValue.
var Key any = contextKey{}

// Of returns the query of a context, nil for none. A nil Query counts nothing.
func Of(ctx context.Context) *Query {
	q, _ := ctx.Value(Key).(*Query)
	return q
}

// Describe sets the query's text, which leaves out times, so that a dashboard's queries are one row of the costs.
func (q *Query) Describe(text string) {
	if q == nil {
		return
	}
	text = strings.Clone(strings.ToValidUTF8(text[:min(len(text), maxText)], ""))
	q.text.Store(&text)
}

// Wait notes whether the query waits for its turn.
func (q *Query) Wait(waits bool) {
	if q != nil {
		q.waiting.Store(waits)
	}
}

// Read counts the groups of a metric that was read.
func (q *Query) Read(metric uuid.UUID, groups int) {
	if q != nil {
		q.metrics.Add(1)
		q.groups.Add(int64(groups))
		q.tracker.reads.add(metric)
	}
}

// Metrics is how many metrics were read so far, each as often as it was.
func (q *Query) Metrics() int64 {
	if q == nil {
		return 0
	}
	return q.metrics.Load()
}

// Groups is how many groups were read so far.
func (q *Query) Groups() int64 {
	if q == nil {
		return 0
	}
	return q.groups.Load()
}
