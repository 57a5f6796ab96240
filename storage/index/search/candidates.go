package search

import (
	"context"
	"slices"

	"github.com/cockroachdb/pebble/v2"
	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/model/filter"
	"github.com/gnocco-db/gnocco/storage/index/keyspace"
)

// candidates finds the resources that may match a filter by the index alone.
type candidates struct {
	db     *pebble.DB // reader is a state of it
	reader pebble.Reader
	kind   *model.ResourceType
}

// candidateLimit is when to give up.
type candidateLimit struct {
	found int // IDs
	keys  int // that are looked at for one range: more than found where texts are matched with a pattern
}

// keysPerCandidate is how many keys are looked at, at most, to spare reading a resource by its ID.
const keysPerCandidate = 16

// find returns the IDs of all resources within bounds, ascending, unless there are more than limit allows or no index
// knows: then ok is false.
func (c *candidates) find(ctx context.Context, b *filter.Bounds,
	limit candidateLimit) (ids []uuid.UUID, ok bool, err error) {
	switch {
	case b.Range != nil:
		return c.inRange(ctx, b.Range, limit)
	case b.All != nil:
		// One of the parts would do. Others spare reading what only one has, if they are short for that.
		for _, part := range b.All {
			if ok {
				limit.keys = min(limit.keys, keysPerCandidate*len(ids))
			}
			some, found, err := c.find(ctx, part, limit)
			if err != nil {
				return nil, false, err
			}
			if !found {
				continue
			}
			if ok {
				some = intersection(ids, some)
			}
			if ids, ok = some, true; len(ids) == 0 {
				break
			}
		}
		return ids, ok, nil
	}
	for _, part := range b.Any {
		some, found, err := c.find(ctx, part, limit)
		if err != nil || !found {
			return nil, false, err
		}
		ids = append(ids, some...)
		limit.found -= len(some)
	}
	slices.SortFunc(ids, model.CompareIDs)
	return slices.Compact(ids), true, nil
}

// intersection returns what both have; both ascend.
func intersection(a, b []uuid.UUID) []uuid.UUID {
	common := a[:0]
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch c := model.CompareIDs(a[i], b[j]); {
		case c < 0:
			i++
		case c > 0:
			j++
		default:
			common = append(common, a[i])
			i, j = i+1, j+1
		}
	}
	return common
}

// inRange returns the IDs of the resources that have a value in a range.
func (c *candidates) inRange(ctx context.Context, r *filter.Range,
	limit candidateLimit) (ids []uuid.UUID, ok bool, err error) {
	var prefixes [][]byte
	switch r.Column {
	case "id":
		if id, single := r.Low.(uuid.UUID); single && r.Low == r.High {
			return []uuid.UUID{id}, limit.found > 0, nil
		}
		return nil, false, nil
	case "original_resource_id":
		// Where the ID is shown as the client wrote it, there is no key for it: it is the ID itself.
		text, single := r.Low.(string)
		if !single || r.Low != r.High {
			return nil, false, nil
		}
		if id, err := uuid.Parse(text); err == nil && id.String() == text {
			if limit.found == 0 {
				return nil, false, nil
			}
			ids = append(ids, id)
		}
		prefixes = [][]byte{{keyspace.Field, keyspace.FieldOriginal}}
	default:
		if prefixes = valuePrefixes(r.Column, c.kind, r.Holds); prefixes == nil {
			return nil, false, nil
		}
	}
	for _, prefix := range prefixes {
		some, ok, err := c.scan(ctx, prefix, r, candidateLimit{limit.found - len(ids), limit.keys})
		if err != nil || !ok {
			return nil, false, err
		}
		ids = append(ids, some...)
	}
	slices.SortFunc(ids, model.CompareIDs)
	return slices.Compact(ids), true, nil
}

// resourceFields are the columns of all resources that have keys of their own.
var resourceFields = map[string]byte{"creator": keyspace.FieldCreator, "user_id": keyspace.FieldUser,
	"project_id": keyspace.FieldProject,
	"started_at": keyspace.FieldStarted, "ended_at": keyspace.FieldEnded}

// valuePrefixes returns what the keys begin with that hold the values of a column of kind's resources; nil where no
// index has all that it wants: each resource with a value of which wants is true. Resources that got a value by a
// change of their type have no key for it.
func valuePrefixes(column string, kind *model.ResourceType, wants func(value any) bool) [][]byte {
	if field, ok := resourceFields[column]; ok {
		return [][]byte{{keyspace.Field, field}}
	}
	a := kind.Attribute(column)
	if a == nil || a.Kind == model.KindBool {
		return nil
	}
	var prefixes [][]byte
	for _, era := range a.Eras {
		if era.Fill != nil && wants(shownValue(era.Fill)) {
			return nil
		}
		prefixes = append(prefixes, keyspace.AttributePrefix(kind.Name, era.ID))
	}
	return prefixes
}

// shownValue is a value as filters compare it.
func shownValue(value any) any {
	if t, ok := value.(carbonara.Timestamp); ok {
		return t.Floor(1000)
	}
	return value
}
