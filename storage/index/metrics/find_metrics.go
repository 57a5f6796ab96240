package metrics

import (
	"bytes"
	"context"
	"errors"
	"slices"

	"github.com/cockroachdb/pebble/v2"
	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/storage/index/keyspace"
)

// walkedMetrics is from how many metrics on they are read in the order of their IDs, through one iterator: side by
// side, each costs less than half of a look-up.
const walkedMetrics = 32

// Find sets found[i] to the metric ids[i], nil for one that is unknown or marked deleted. A value that does not decode
// is reported and counts as unknown; any other failure is returned, so that nobody takes it for an answer.
func (s *Table) Find(_ context.Context, ids []uuid.UUID, found []*model.Metric) error {
	var missing []int
	for i := range ids {
		if found[i] = s.cache.get(&ids[i]); found[i] == nil {
			missing = append(missing, i)
		}
	}
	if len(missing) >= walkedMetrics {
		return s.walkMetrics(ids, missing, found)
	}
	for _, i := range missing {
		m, err := s.Metric(ids[i])
		if err != nil && !errors.Is(err, model.ErrNotFound) && !s.log.SkipCorrupt(err) {
			return err
		}
		found[i] = m
	}
	return nil
}

// FindCurrent is Find without the cache, which learns of a change once it is durable, and so after ChangesSince.
func (s *Table) FindCurrent(ids []uuid.UUID, found []*model.Metric) error {
	all := make([]int, len(ids))
	for i := range all {
		all[i] = i
	}
	return s.walkMetrics(ids, all, found)
}

// walkMetrics is Find of the metrics with the numbers in missing, which it sorts, without a look into the cache.
func (s *Table) walkMetrics(ids []uuid.UUID, missing []int, found []*model.Metric) (err error) {
	s.misses.Add(float64(len(missing)))
	slices.SortFunc(missing, func(a, b int) int { return bytes.Compare(ids[a][:], ids[b][:]) })
	seen := s.cache.generation.Load()
	iter, err := s.log.DB.NewIter(&pebble.IterOptions{LowerBound: []byte{keyspace.Metric},
		UpperBound: []byte{keyspace.Metric + 1}})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, iter.Close()) }()
	read := make([]*model.Metric, 0, len(missing))
	var key []byte
	for _, i := range missing {
		key = append(append(key[:0], keyspace.Metric), ids[i][:]...)
		if !iter.SeekGE(key) || !bytes.Equal(iter.Key(), key) {
			if err := iter.Error(); err != nil {
				return err
			}
			continue
		}
		value, err := iter.ValueAndErr()
		if err != nil {
			return err
		}
		m, err := s.decodeMetric(ids[i], value)
		if err == nil {
			err = s.completeLive(m)
		}
		if err == nil {
			found[i], read = m, append(read, m)
		} else if !errors.Is(err, model.ErrNotFound) && !s.log.SkipCorrupt(err) {
			return err
		}
	}
	if err := s.log.WaitDurable(); err != nil {
		return err
	}
	s.cache.insert(seen, read...)
	return nil
}

// CurrentMetrics returns metrics as they are kept, not as they were cached a moment ago; those that are deleted or
// unknown are left out. The metrics need not be durable yet.
func (s *Table) CurrentMetrics(ids []uuid.UUID) (metrics []*model.Metric, err error) {
	for _, id := range ids {
		m, err := s.Read(id)
		if errors.Is(err, model.ErrNotFound) || err == nil && m.Deleted || err != nil && s.log.SkipCorrupt(err) {
			continue
		}
		if err != nil {
			return nil, err
		}
		metrics = append(metrics, m)
	}
	return metrics, nil
}
