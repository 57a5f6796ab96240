package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"

	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/storage/incoming"
)

// putUnprocessed writes measures that the source has not processed into an incoming store, which replaces that of an
// earlier pass. A server will process them: of each metric's equal timestamps the last one counts.
func (t *target) putUnprocessed(ctx context.Context, waiting map[uuid.UUID]*series) (n int, err error) {
	dir := filepath.Join(t.stage, "incoming")
	if err := os.RemoveAll(dir); err != nil || len(waiting) == 0 {
		return 0, err
	}
	store, err := incoming.Open(filepath.Join(dir, "gnocchi", "e1"), incoming.Options{Sacks: len(t.sacks)})
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	var partition incoming.Partition
	const measuresPerRequest = 100_000
	measures := &model.Measures{Offsets: []int{0}}
	flush := func() error {
		if measures.Len() == 0 {
			return nil
		}
		n += measures.Len()
		err := store.Append(ctx, partition.Blocks(measures, len(t.sacks), time.Now()))
		measures = &model.Measures{Offsets: []int{0}}
		return err
	}
	for id, s := range waiting {
		measures.Metrics = append(measures.Metrics, id)
		measures.Timestamps = append(measures.Timestamps, s.timestamps...)
		measures.Values = append(measures.Values, s.values...)
		measures.Offsets = append(measures.Offsets, measures.Len())
		if measures.Len() >= measuresPerRequest {
			if err := flush(); err != nil {
				return n, err
			}
		}
	}
	return n, flush()
}
