package inspect

import (
	"errors"

	"github.com/cockroachdb/pebble/v2"
	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/cmd/gnocco/internal/offline"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/storage/archive"
)

// inMetricSack calls f with the store of a metric's sack, if it has one.
func inMetricSack(d *offline.Data, metric uuid.UUID, f func(*archive.Store) error) error {
	return d.InSack(model.Sack(metric, d.Cluster.Sacks), f)
}

// each calls f with every key and value between the bounds, nil for no bound.
func each(db *pebble.DB, lower, upper []byte, f func(key, value []byte) error) error {
	iter, err := db.NewIter(&pebble.IterOptions{LowerBound: lower, UpperBound: upper})
	if err != nil {
		return err
	}
	for valid := iter.First(); valid; valid = iter.Next() {
		value, err := iter.ValueAndErr()
		if err == nil {
			err = f(iter.Key(), value)
		}
		if err != nil {
			return errors.Join(err, iter.Close())
		}
	}
	return errors.Join(iter.Error(), iter.Close())
}
