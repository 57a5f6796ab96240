package index

import (
	"context"
	"errors"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/storage"
)

// A store of format version 1, as its program left it, is read and goes on as one of today.
func TestUpgradeFromVersion1(t *testing.T) {
	ctx := context.Background()
	fs := vfs.NewMem()
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	id := uuid.MustParse("3b9e2f6c-0000-4000-8000-000000000001")
	s, err := Open("index", Options{FS: fs})
	check(err)
	check(s.db.Set(keyVersion, []byte{1}, pebble.Sync))
	old :=
		`{"original_id":"web","type":"generic","creator":"admin","user_id":"u","started_at":1000,"ended_at":2000,"revision_start":3000}`
	check(s.db.Set(idKey(prefixResource, id), append([]byte{1}, old...), pebble.Sync))
	check(s.Close())

	s, err = Open("index", Options{FS: fs})
	check(err)
	found := 0
	check(s.EachResource(ctx, model.GenericType, func(r *model.Resource) bool {
		found++
		if r.ID != id || r.OriginalID != "web" || r.Creator != "admin" || *r.UserID != "u" || r.ProjectID != nil ||
			r.StartedAt != 1000 || *r.EndedAt != 2000 || r.RevisionStart != 3000 {
			t.Errorf("got %+v", r)
		}
		return true
	}))
	if found != 1 {
		t.Errorf("%d resources", found)
	}
	project := "p"
	_, err = s.UpdateResource(ctx, model.GenericType, id, 4000, func(r *model.Resource) (*MetricSet, error) {
		r.ProjectID = &project
		return nil, nil
	})
	check(err)
	check(s.Close())
	s, err = Open("index", Options{FS: fs})
	check(err)
	states, err := s.History(ctx, model.GenericType, id)
	check(err)
	if len(states) != 2 || states[0].ProjectID != nil || *states[1].ProjectID != "p" || *states[1].UserID != "u" {
		t.Errorf("history %+v", states)
	}
	check(s.DeleteResource(ctx, model.GenericType, id, nil))
	iter, err := s.db.NewIter(nil)
	check(err)
	for valid := iter.First(); valid; valid = iter.Next() {
		switch iter.Key()[0] {
		case prefixResource, prefixRevision, prefixTypeResource, prefixField, prefixAttribute:
			t.Errorf("key %q is left", iter.Key())
		}
	}
	check(iter.Close())
	check(s.Close())
}

// Whatever the bytes, a resource decodes to what is encoded as the same again, or is corrupt.
func FuzzDecodeResource(f *testing.F) {
	attributes := []*model.Attribute{{Name: "a", Kind: model.KindString, MaxLength: 9},
		{Name: "b", Kind: model.KindNumber}, {Name: "c", Kind: model.KindUUID}}
	kind, err := model.NewResourceType("k", attributes)
	if err != nil {
		f.Fatal(err)
	}
	types := map[string]*model.ResourceType{"k": kind, model.GenericType: model.GenericResourceType()}
	user := "u"
	r := &model.Resource{OriginalID: "web", Type: "k", Creator: "admin", UserID: &user, StartedAt: 1,
		Attributes: model.Values{{Name: "a", Value: "x"}, {Name: "b", Value: 2.5}, {Name: "c", Value: uuid.New()}}}
	f.Add(appendResource(nil, r, kind))
	f.Add(appendListed(appendResource(nil, r, kind),
		[]*model.Metric{{ID: uuid.New(), Name: "cpu"}, {ID: uuid.New(), Name: "disk"}}))
	r.Type, r.Attributes = model.GenericType, nil
	f.Add(appendResource(nil, r, types[model.GenericType]))
	f.Add([]byte("\x01{\"original_id\":\"web\",\"type\":\"generic\"}"))
	f.Fuzz(func(t *testing.T, src []byte) {
		decoder := resourceDecoder{types: types}
		r, err := decoder.decode(uuid.Nil, src)
		if err != nil {
			return
		}
		again, err := decoder.decode(uuid.Nil, appendResource(nil, r, types[r.Type]))
		if err != nil || again.OriginalID != r.OriginalID || again.Creator != r.Creator ||
			len(again.Attributes) != len(r.Attributes) ||
			again.StartedAt != r.StartedAt || same(again.UserID, r.UserID) != true || !same(again.EndedAt, r.EndedAt) {
			t.Fatalf("%+v became %+v, %v", r, again, err)
		}
	})
}

// A store of a later format version is refused as such, and stays as it is.
func TestLaterVersion(t *testing.T) {
	fs := vfs.NewMem()
	s, err := Open("index", Options{FS: fs})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(s.db.Set(keyVersion, []byte{FormatVersion + 1}, pebble.Sync), s.Close()); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := Open("index", Options{FS: fs}); !errors.Is(err, storage.ErrLaterFormat) {
			t.Fatal(err)
		}
	}
}
