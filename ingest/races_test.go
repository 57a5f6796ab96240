package ingest_test

import (
	"errors"
	"testing"

	"github.com/gnocco-db/gnocco/ingest"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/storage/index"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

// racer is a sender beside whom somebody creates the resource that it is about to create, and deletes the one that it
// is about to add metrics to, so many times.
type racer struct {
	ingest.Unrestricted
	t     *testing.T
	index *index.Store
	races int
}

func (r *racer) CreateResource(*model.Resource) error {
	if r.races--; r.races >= 0 {
		fatal.If(r.t, r.index.CreateResource(r.t.Context(), &model.Resource{ID: resourceID(r.t),
			Type: model.GenericType, Creator: "me", OriginalID: "r"}, nil))
	}
	return nil
}

func (r *racer) UpdateResource(*model.Resource) error {
	if r.races--; r.races >= 0 {
		fatal.If(r.t, r.index.DeleteResource(r.t.Context(), model.GenericType, resourceID(r.t), nil))
	}
	return nil
}

// A sender tries five times to create what others create and delete meanwhile, and no more.
func TestRacesOfCreation(t *testing.T) {
	f := func(races int, want error) {
		t.Helper()
		metrics, store, in := stores(t)
		r := &racer{t: t, index: metrics, races: races}
		err := in.AppendNamed(t.Context(), "me", r, rows{"a1"}, &ingest.Protocol{ResourceType: model.GenericType},
			new(ingest.NamedBatch))
		if !errors.Is(err, want) {
			t.Errorf("%d races: %v", races, err)
		}
		if n := pending(t, store); (n == 1) != (want == nil) {
			t.Errorf("%d races: measures of %d metrics wait", races, n)
		}
	}
	f(0, nil)
	f(1, nil)
	f(4, nil)
	f(5, model.ErrUnavailable)
}
