package index

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/storage"
)

// upgrade brings a store of format version 1 or 2 to the present one: the keys by which resources and metrics are
// found are written anew, and resources of version 1, in JSON, as they are written today. A crash on the way does no
// harm: the version comes last, and until then all is written again.
func (s *Store) upgrade(from byte) error {
	u := &upgrade{store: s, batch: s.db.NewBatch(), reported: time.Now()}
	defer func() { u.batch.Close() }()
	s.logger.Info("index is upgraded", "from", from, "to", FormatVersion)
	for _, prefix := range []byte{prefixTypeResource, prefixField, prefixAttribute, prefixMetricField} {
		if err := u.batch.DeleteRange([]byte{prefix}, prefixEnd([]byte{prefix}), nil); err != nil {
			return err
		}
	}
	err := s.scan(context.Background(), []byte{prefixResource}, nil, u.resource)
	if err != nil {
		return err
	}
	if err := s.scan(context.Background(), []byte{prefixMetric}, nil, u.metric); err != nil {
		return err
	}
	counts := make([]byte, 0, 3*8)
	for _, n := range []int{u.metrics - u.deleted, u.deleted, u.resources} {
		counts = binary.BigEndian.AppendUint64(counts, uint64(n))
	}
	if err := u.batch.Set(keyCounts, counts, nil); err != nil {
		return err
	}
	if err := u.batch.Set(keyVersion, []byte{FormatVersion}, nil); err != nil {
		return err
	}
	if err := u.batch.Commit(pebble.Sync); err != nil {
		return err
	}
	s.logger.Info("index upgraded", "resources", u.resources, "metrics", u.metrics)
	return nil
}

// upgrade is one under way.
type upgrade struct {
	store              *Store
	batch              *pebble.Batch
	resources, metrics int
	deleted            int // metrics that are marked so
	reported           time.Time
}

// resource writes the keys of one.
func (u *upgrade) resource(key, value []byte) (bool, error) {
	id, ok := lastID(key)
	if !ok {
		return true, nil
	}
	if len(value) > 0 && value[0] == resourceJSONVersion {
		r, err := decodeResourceJSON(id, value)
		if err != nil {
			return u.skip(err)
		}
		value = appendResource(nil, r, model.GenericResourceType())
		if err := u.batch.Set(key, value, nil); err != nil {
			return false, err
		}
	}
	keys, err := resourceKeys(id, value)
	if err != nil {
		return u.skip(err)
	}
	for _, key := range keys {
		if err := u.batch.Set([]byte(key), nil, nil); err != nil {
			return false, err
		}
	}
	u.resources++
	return true, u.progress()
}

// metric writes the keys of one.
func (u *upgrade) metric(key, value []byte) (bool, error) {
	id, ok := lastID(key)
	if !ok {
		return true, nil
	}
	m, err := decodeMetric(id, bytes.Clone(value), func(name []byte) *model.ArchivePolicy {
		return &model.ArchivePolicy{Name: string(name)} // policies are not read yet, and not asked for here
	})
	if err != nil {
		return u.skip(err)
	}
	u.metrics++
	if m.Deleted {
		u.deleted++
	} else {
		for _, key := range metricKeys(m) {
			if err := u.batch.Set(key, nil, nil); err != nil {
				return false, err
			}
		}
	}
	return true, u.progress()
}

// skip reports bytes that do not decode, and leaves them alone; reading them will count them.
func (u *upgrade) skip(err error) (bool, error) {
	if !errors.Is(err, storage.ErrCorrupt) {
		return false, err
	}
	u.store.logger.Error("index value skipped", "error", err)
	return true, nil
}

// progress writes what has gathered, and logs how far it is.
func (u *upgrade) progress() error {
	const keysPerBatch = 10_000
	if u.batch.Count() < keysPerBatch {
		return nil
	}
	if err := u.batch.Commit(pebble.NoSync); err != nil {
		return err
	}
	if err := u.batch.Close(); err != nil {
		return err
	}
	u.batch = u.store.db.NewBatch()
	const between = 5 * time.Second // reports
	if time.Since(u.reported) >= between {
		u.reported = time.Now()
		u.store.logger.Info("index is upgraded", "resources", u.resources, "metrics", u.metrics)
	}
	return nil
}

const resourceJSONVersion = 1 // of a resource's value in stores of format version 1

// storedResource is a resource's value in stores of format version 1; times are nanoseconds since 1970. All are
// generic.
type storedResource struct {
	OriginalID    string               `json:"original_id"`
	Type          string               `json:"type"`
	Creator       string               `json:"creator,omitempty"`
	UserID        *string              `json:"user_id,omitempty"`
	ProjectID     *string              `json:"project_id,omitempty"`
	StartedAt     carbonara.Timestamp  `json:"started_at"`
	EndedAt       *carbonara.Timestamp `json:"ended_at,omitempty"`
	RevisionStart carbonara.Timestamp  `json:"revision_start"`
}

func decodeResourceJSON(id uuid.UUID, value []byte) (*model.Resource, error) {
	var stored storedResource
	err := json.Unmarshal(value[1:], &stored)
	if err == nil && stored.Type != model.GenericType {
		err = errors.New("it is not generic")
	}
	if err != nil {
		return nil, fmt.Errorf("%w: resource %s: %w", errCorrupt, id, err)
	}
	return &model.Resource{
		ID: id, OriginalID: stored.OriginalID, Type: model.GenericType, Creator: stored.Creator, UserID: stored.UserID,
		ProjectID: stored.ProjectID, StartedAt: stored.StartedAt, EndedAt: stored.EndedAt,
		RevisionStart: stored.RevisionStart,
	}, nil
}
