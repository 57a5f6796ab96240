package idset_test

import (
	"testing"

	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/ingest/idset"
)

func TestAdd(t *testing.T) {
	var s idset.Set
	for _, room := range []int{0, 1000, 10} { // it grows, and can be used again
		s.Reset(room)
		var ids []uuid.UUID
		for i := range 500 {
			ids = append(ids, uuid.New())
			if at := s.Add(ids); at != i {
				t.Fatalf("room for %d: metric %d stands at %d", room, i, at)
			}
			if at := s.Add(append(ids, ids[i/2])); at != i/2 {
				t.Fatalf("room for %d: the metric of %d stands at %d", room, i/2, at)
			}
		}
	}
}
