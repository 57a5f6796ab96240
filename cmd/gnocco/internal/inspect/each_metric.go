package inspect

import (
	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/cmd/gnocco/internal/offline"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/storage/archive"
)

// inMetricSack calls f with the store of a metric's sack, if it has one.
func inMetricSack(d *offline.Data, metric uuid.UUID, f func(*archive.Store) error) error {
	return d.InSack(model.Sack(metric, d.Cluster.Sacks), f)
}
