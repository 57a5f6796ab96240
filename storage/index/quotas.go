package index

import (
	"context"

	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/storage/index/keyspace"
)

// PutQuota keeps the quota of a project, which replaces an earlier one.
func (s *documents) PutQuota(ctx context.Context, project string, q model.Quota) error {
	return s.put(ctx, keyspace.Quota, map[string]any{project: q})
}

// DeleteQuota removes the quota of a project, if it has one of its own.
func (s *documents) DeleteQuota(ctx context.Context, project string) error {
	return s.put(ctx, keyspace.Quota, map[string]any{project: nil})
}

// Quotas returns the quotas that projects have of their own. Values that do not decode are left out.
func (s *documents) Quotas(ctx context.Context) (map[string]model.Quota, error) {
	quotas := make(map[string]model.Quota)
	err := each(ctx, s.log, keyspace.Quota, uuid.Nil, func(project []byte, q *model.Quota) bool {
		quotas[string(project)] = *q
		return true
	})
	return quotas, err
}
