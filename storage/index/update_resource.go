package index

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/storage/index/commits"
	"github.com/gnocco-db/gnocco/storage/index/keyspace"
	"github.com/gnocco-db/gnocco/storage/index/metrics"
	"github.com/gnocco-db/gnocco/storage/index/records"
)

// UpdateResource lets update change a copy of a resource of a type, or of any as "generic". update may change the
// fields that clients may change and, by returning a Set, the metrics; nil leaves them. No other write comes in
// between. If more than the metrics did change, the state before becomes a revision that ended at the given time, and
// the new one begins then. It returns the resource as it is afterwards, with its metrics; update's error; or the errors
// of CreateResource.
func (s *Store) UpdateResource(ctx context.Context, resourceType string, id uuid.UUID, at carbonara.Timestamp,
	update func(*model.Resource) (*metrics.Set, error)) (*model.Resource, error) {
	var updated *model.Resource
	var changes metrics.Changes
	var seen uint64
	ends := false // it ends or is revived
	err := s.log.Write(ctx, func(c *commits.Change) error {
		seen = s.Generation()
		current, value, err := s.ReadResource(resourceType, id)
		if err != nil {
			return err
		}
		if err := s.ReadMetricsOfResource(ctx, current, value); err != nil {
			return err
		}
		updated = new(*current)
		updated.Attributes, updated.Metrics = slices.Clone(current.Attributes), maps.Clone(current.Metrics)
		set, err := update(updated)
		if err != nil {
			return err
		}
		updated.Metrics = maps.Clone(current.Metrics)
		if err := updated.Validate(); err != nil {
			return err
		}
		if set != nil {
			if value, err = metrics.Unlist(c, id, value); err != nil {
				return err
			}
		}
		ends = !same(current.EndedAt, updated.EndedAt)
		if !sameState(current, updated) {
			if err := s.addRevision(c, current, updated, value, at); err != nil {
				return err
			}
		}
		if set != nil {
			if changes, err = s.SetMetrics(c, updated, set); err != nil {
				return err
			}
		}
		return metrics.Put(c, changes.Created)
	})
	if err != nil {
		return nil, err
	}
	s.Apply(&changes, seen)
	if ends && len(updated.Metrics) > 0 {
		s.Forget(slices.Collect(maps.Values(updated.Metrics))...)
	}
	return updated, nil
}

// sameState reports whether two states differ in nothing that would make a revision.
func sameState(a, b *model.Resource) bool {
	return same(a.UserID, b.UserID) && same(a.ProjectID, b.ProjectID) && a.StartedAt == b.StartedAt &&
		same(a.EndedAt, b.EndedAt) &&
		slices.Equal(a.Attributes, b.Attributes)
}

func same[T comparable](a, b *T) bool { return a == b || a != nil && b != nil && *a == *b }

// addRevision keeps what was, stored as value, and sets what is. A revision always begins after the one before: its
// start is in its ETag.
func (s *Store) addRevision(c *commits.Change, was, is *model.Resource, value []byte, at carbonara.Timestamp) error {
	t, err := s.ResourceType(was.Type)
	if err != nil {
		return err
	}
	if err := t.Check(is.Attributes); err != nil {
		return err
	}
	const resolution = 1000 // clients see microseconds
	at = max(at, was.RevisionStart+resolution)
	past := *was
	past.RevisionEnd, is.RevisionStart = &at, at
	number, err := s.lastRevision()
	if err != nil {
		return err
	}
	number++
	if err := c.Set(keyspace.LastRevision, binary.BigEndian.AppendUint64(nil, number), nil); err != nil {
		return err
	}
	if err := c.Set(keyspace.RevisionKey(was.ID, number), records.AppendResource(nil, &past, t), nil); err != nil {
		return err
	}
	if is.EndedAt != nil {
		s.NoteEnd(is.ID)
	}
	now, err := records.WithInlineOf(is.ID, records.AppendResource(nil, is, t), value)
	if err != nil {
		return err
	}
	return replaceResource(c, is.ID, value, now)
}

// putPast writes the past states that new resources bring.
func (s *Store) putPast(c *commits.Change, given []NewResource) error {
	if !slices.ContainsFunc(given, func(n NewResource) bool { return len(n.Past) > 0 }) {
		return nil
	}
	number, err := s.lastRevision()
	if err != nil {
		return err
	}
	for _, n := range given {
		t, err := s.ResourceType(n.Resource.Type)
		if err != nil {
			return err
		}
		for _, past := range n.Past {
			number++
			if err := c.Set(keyspace.RevisionKey(n.Resource.ID, number),
				records.AppendResource(nil, past, t), nil); err != nil {
				return err
			}
		}
	}
	return c.Set(keyspace.LastRevision, binary.BigEndian.AppendUint64(nil, number), nil)
}

// lastRevision returns the number of the last revision, 0 if there was none yet.
func (s *Store) lastRevision() (uint64, error) {
	value, err := s.log.Get(keyspace.LastRevision)
	if err != nil {
		return 0, fmt.Errorf("index: read the number of revisions: %w", err)
	}
	if value == nil {
		return 0, nil
	}
	if len(value) != 8 {
		return 0, fmt.Errorf("%w: number of revisions", records.ErrCorrupt)
	}
	return binary.BigEndian.Uint64(value), nil
}

// Revive takes the end of resources whose metrics got a measure that is no older: newest has its timestamp, by
// resource. Each that was ended begins a new revision at the given time.
func (s *Store) Revive(ctx context.Context, newest map[uuid.UUID]carbonara.Timestamp, at carbonara.Timestamp) error {
	for id, measure := range newest {
		_, err := s.UpdateResource(ctx, model.GenericType, id, at, func(r *model.Resource) (*metrics.Set, error) {
			if r.EndedAt != nil && *r.EndedAt <= measure {
				r.EndedAt = nil
			}
			return nil, nil
		})
		if err != nil && !errors.Is(err, model.ErrNotFound) {
			return err
		}
	}
	return nil
}
