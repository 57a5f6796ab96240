package ingest

import (
	"context"
	"time"

	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/storage/incoming"
	"github.com/gnocco-db/gnocco/storage/index"
)

// Options configure an Ingester. Incoming and Sacks have no default.
type Options struct {
	Index    *index.Store // nil: AppendNamed cannot be used
	Incoming *incoming.Store
	Sacks    int // number of sacks of the cluster

	MaxFuture    time.Duration    // how far ahead of the clock a measure may be; 0: any time
	KnownMetrics int              // most metrics kept by name, and as many in lists of names; 0: 250,000
	Timeout      time.Duration    // of a call; 0: as long as the context allows
	Now          func() time.Time // nil: time.Now
}

const defaultKnownMetrics = 250_000

// An Ingester makes measures durable. Many requests use it at once.
type Ingester struct {
	Options
	known knownMetrics
}

// New returns an Ingester. The stores stay the caller's.
func New(o Options) *Ingester {
	if o.KnownMetrics == 0 {
		o.KnownMetrics = defaultKnownMetrics
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Ingester{Options: o, known: newKnownMetrics(o.KnownMetrics)}
}

// A Batch is the measures of one request, and the memory that storing them takes. The zero Batch is ready, and can be
// used again.
type Batch struct {
	Measures  model.Measures
	partition incoming.Partition
}

// Bytes returns about how much memory the batch keeps.
func (b *Batch) Bytes() int { return b.partition.Bytes() + 24*cap(b.Measures.Values) }

// Append makes the measures durable. They were accepted at the given time; a *FutureError refuses them.
func (i *Ingester) Append(ctx context.Context, b *Batch, accepted time.Time) error {
	if b.Measures.Len() == 0 {
		return nil
	}
	if err := i.Future(&b.Measures, accepted); err != nil {
		return err
	}
	ctx, cancel := i.limit(ctx)
	defer cancel()
	return i.Incoming.Append(ctx, b.partition.Blocks(&b.Measures, i.Sacks, accepted))
}

func (i *Ingester) limit(ctx context.Context) (context.Context, context.CancelFunc) {
	if i.Timeout == 0 {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, i.Timeout)
}
