package index

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

// A taken ID is found in every place: in memory, in a table of the upper levels, in one of the last.
func TestTakenIDsAreFound(t *testing.T) {
	ctx := context.Background()
	s, err := Open("index", Options{FS: vfs.NewMem()})
	fatal.If(t, err)
	policy, err := s.ArchivePolicy("low")
	fatal.If(t, err)
	created := map[string]NewResource{}
	create := func(n NewResource) error {
		given := NewResource{Resource: n.Resource}
		for _, m := range n.Metrics {
			copied := *m
			given.Metrics = append(given.Metrics, &copied)
		}
		return s.CreateResources(ctx, []NewResource{given})
	}
	fill := func(where string) {
		t.Helper()
		for i := range 100 {
			id := uuid.New()
			created[fmt.Sprint(where, i)] = NewResource{
				Resource: &model.Resource{ID: id, OriginalID: id.String(), Type: model.GenericType, Creator: "admin",
					StartedAt: 1, RevisionStart: 1},
				Metrics: []*model.Metric{{ID: uuid.New(), Name: "cpu", ArchivePolicy: policy}},
			}
			fatal.If(t, create(created[fmt.Sprint(where, i)]))
		}
	}
	fill("the last level ")
	fatal.If(t, errors.Join(s.log.DB.Flush(), s.log.DB.Compact(ctx, []byte{0}, []byte{0xff}, false)))
	fill("an upper level ")
	fatal.If(t, s.log.DB.Flush())
	fill("memory ")
	if levels := s.log.DB.Metrics().Levels; levels[0].TablesCount == 0 || levels[len(levels)-1].TablesCount == 0 {
		t.Errorf("the tables are not where they should be:\n%v", s.log.DB.Metrics())
	}
	for where, n := range created {
		another := *n.Resource
		another.ID = uuid.New()
		for what, again := range map[string]NewResource{"resource": {Resource: n.Resource},
			"metric": {Resource: &another, Metrics: n.Metrics}} {
			if err := create(again); !errors.Is(err, model.ErrExists) {
				t.Errorf("%s in %s, again: %v, want %v", what, where, err, model.ErrExists)
			}
		}
	}
	fatal.If(t, s.Close())
}
