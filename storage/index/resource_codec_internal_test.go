package index

import (
	"testing"

	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/model"
)

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
