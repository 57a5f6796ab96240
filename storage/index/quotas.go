package index

import (
	"context"
	"fmt"

	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/storage/index/commits"
	"github.com/gnocco-db/gnocco/storage/index/keyspace"
	"github.com/gnocco-db/gnocco/storage/index/records"
)

// PutQuota keeps the quota of a project, which replaces an earlier one.
func (s *documents) PutQuota(ctx context.Context, project string, q model.Quota) error {
	return s.log.Write(ctx, func(c *commits.Change) error {
		return records.SetJSON(c.Batch, keyspace.NameKey(keyspace.Quota, project), q)
	})
}

// DeleteQuota removes the quota of a project, if it has one of its own.
func (s *documents) DeleteQuota(ctx context.Context, project string) error {
	return s.log.Write(ctx, func(c *commits.Change) error {
		return c.Batch.Delete(keyspace.NameKey(keyspace.Quota, project), nil)
	})
}

// Quotas returns the quotas that projects have of their own. Values that do not decode are left out.
func (s *documents) Quotas(ctx context.Context) (map[string]model.Quota, error) {
	quotas := make(map[string]model.Quota)
	err := s.log.Scan(ctx, []byte{keyspace.Quota}, nil, func(key, value []byte) (bool, error) {
		project := string(key[1:])
		var q model.Quota
		if err := records.DecodeJSON(value, &q); err != nil {
			s.log.SkipCorrupt(fmt.Errorf("quota of %s: %w", project, err))
			return true, nil
		}
		quotas[project] = q
		return true, nil
	})
	return quotas, err
}
