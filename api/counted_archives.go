package api

import (
	"context"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/query"
	"github.com/gnocco-db/gnocco/query/activity"
)

// countedArchives count what each query reads.
type countedArchives struct{ query.Archives }

// Prefetch implements query.Archives.
func (a countedArchives) Prefetch(ctx context.Context, reads []model.Read, staleness *query.Staleness) (
	query.GroupReader, error) {
	reader, err := a.Archives.Prefetch(ctx, reads, staleness)
	if err != nil {
		return nil, err
	}
	return countedReader{reader}, nil
}

func (a countedArchives) Groups(ctx context.Context, read model.Read, staleness *query.Staleness,
	dst *carbonara.Groups) error {
	return countedReader{a.Archives}.Groups(ctx, read, staleness, dst)
}

func (a countedArchives) EachGroups(ctx context.Context, reads []model.Read, staleness *query.Staleness,
	dst *carbonara.Groups, use func(i int) error) error {
	return countedReader{a.Archives}.EachGroups(ctx, reads, staleness, dst, use)
}

// countedReader is a part of countedArchives.
type countedReader struct{ query.GroupReader }

// Groups implements query.GroupReader.
func (r countedReader) Groups(ctx context.Context, read model.Read, staleness *query.Staleness,
	dst *carbonara.Groups) error {
	err := r.GroupReader.Groups(ctx, read, staleness, dst)
	activity.Of(ctx).Read(read.Metric.ID, dst.Len())
	return err
}

func (r countedReader) EachGroups(ctx context.Context, reads []model.Read, staleness *query.Staleness,
	dst *carbonara.Groups, use func(i int) error) error {
	q := activity.Of(ctx)
	return r.GroupReader.EachGroups(ctx, reads, staleness, dst, func(i int) error {
		q.Read(reads[i].Metric.ID, dst.Len())
		return use(i)
	})
}
