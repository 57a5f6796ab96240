package ingest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gnocco-db/gnocco/internal/counted"
	"github.com/gnocco-db/gnocco/internal/quota"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/storage/incoming"
	"github.com/gnocco-db/gnocco/storage/index"
)

// Options configure an Ingester. Incoming and Sacks have no default.
type Options struct {
	Index    *index.Store // nil: AppendNamed cannot be used
	Incoming *incoming.Store
	Sacks    int // number of sacks of the cluster

	Quotas       *quota.Book      // of projects; nil: none
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
	o.KnownMetrics = cmp.Or(o.KnownMetrics, defaultKnownMetrics)
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Ingester{Options: o, known: newKnownMetrics(o.KnownMetrics)}
}

// A Batch is the measures of one request, and the memory that storing them takes. The zero Batch is ready, and can be
// used again.
type Batch struct {
	Project   string // that is charged for the measures
	Measures  model.Measures
	partition incoming.Partition
}

// Bytes returns about how much memory the batch keeps.
func (b *Batch) Bytes() int { return b.partition.Bytes() + 24*cap(b.Measures.Values) }

// Append makes the measures durable. They were accepted at the given time; a *FutureError refuses them, and so does a
// *model.QuotaError.
func (i *Ingester) Append(ctx context.Context, b *Batch, accepted time.Time) error {
	if b.Measures.Len() == 0 {
		return nil
	}
	if err := i.Future(&b.Measures, accepted); err != nil {
		return err
	}
	measures := int64(b.Measures.Len())
	if err := i.Quotas.Charge(quota.Measures, b.Project, measures); err != nil {
		return i.explain(err, &b.Measures)
	}
	ctx, cancel := i.limit(ctx)
	defer cancel()
	err := i.Incoming.Append(ctx, b.partition.Blocks(&b.Measures, i.Sacks, accepted))
	if err != nil {
		i.Quotas.Return(quota.Measures, b.Project, measures)
	}
	return err
}

// explain adds to a *model.QuotaError which metric has the most of these measures.
func (i *Ingester) explain(err error, m *model.Measures) error {
	var over *model.QuotaError
	if !errors.As(err, &over) {
		return err
	}
	most, count := 0, 0
	for at := range m.Metrics {
		if n := m.Offsets[at+1] - m.Offsets[at]; n > count {
			most, count = at, n
		}
	}
	name := m.Metrics[most].String()
	if i.Index != nil {
		if metric := i.Index.Lookup(m.Metrics[most]); metric != nil && metric.Name != "" {
			name = metric.Name
		}
	}
	over.Grew = fmt.Sprintf("of %s, metric %s has the most (%d)", counted.Of(m.Len(), "measure"), name, count)
	return over
}

func (i *Ingester) limit(ctx context.Context) (context.Context, context.CancelFunc) {
	if i.Timeout == 0 {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, i.Timeout)
}

// Rights are what the sender of measures may do. Each method returns nil, or the error to answer with.
type Rights interface {
	CreateResource(*model.Resource) error
	UpdateResource(*model.Resource) error
	CreateResourceType(name string) error
	CreateSeries([]*model.Metric) error // with labels
	PostMeasures(*model.Metric) error
}

// Unrestricted are the rights of a sender who may do everything.
type Unrestricted struct{}

// CreateResource implements Rights, as all of these do.
func (Unrestricted) CreateResource(*model.Resource) error { return nil }
func (Unrestricted) UpdateResource(*model.Resource) error { return nil }
func (Unrestricted) CreateResourceType(string) error      { return nil }
func (Unrestricted) CreateSeries([]*model.Metric) error   { return nil }
func (Unrestricted) PostMeasures(*model.Metric) error     { return nil }
