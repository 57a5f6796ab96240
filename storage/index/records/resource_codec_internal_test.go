package records

import (
	"reflect"
	"testing"

	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

// Any bytes either decode to a resource that is encoded as the same again, or are corrupt.
func FuzzDecodeResource(f *testing.F) {
	attributes := []*model.Attribute{{Name: "a", Kind: model.KindString, MaxLength: 9},
		{Name: "b", Kind: model.KindNumber}, {Name: "c", Kind: model.KindUUID}}
	kind, err := model.NewResourceType("k", attributes)
	fatal.If(f, err)
	types := map[string]*model.ResourceType{"k": kind, model.GenericType: model.GenericResourceType()}
	user := "u"
	r := &model.Resource{OriginalID: "web", Type: "k", Creator: "admin", UserID: &user, StartedAt: 1,
		Attributes: model.Values{{Name: "a", Value: "x"}, {Name: "b", Value: 2.5}, {Name: "c", Value: uuid.New()}}}
	f.Add(AppendResource(nil, r, kind))
	f.Add(AppendInline(AppendResource(nil, r, kind),
		[]*model.Metric{{ID: uuid.New(), Name: "cpu"}, {ID: uuid.New(), Name: "disk"}}))
	r.Type, r.Attributes = model.GenericType, nil
	f.Add(AppendResource(nil, r, types[model.GenericType]))
	f.Add([]byte("\x01{\"original_id\":\"web\",\"type\":\"generic\"}"))
	if got := appendValue(nil, true); string(got) != string([]byte{byte(model.KindBool), 1}) {
		f.Errorf("true is %v", got)
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		decoder := Decoder{Types: types}
		r, err := decoder.Decode(uuid.Nil, src)
		if err != nil {
			return
		}
		again, err := decoder.Decode(uuid.Nil, AppendResource(nil, r, types[r.Type]))
		if err != nil || again.OriginalID != r.OriginalID || again.Creator != r.Creator ||
			len(again.Attributes) != len(r.Attributes) ||
			again.StartedAt != r.StartedAt || !reflect.DeepEqual(again.UserID, r.UserID) ||
			!reflect.DeepEqual(again.EndedAt, r.EndedAt) {
			t.Fatalf("%+v became %+v, %v", r, again, err)
		}
	})
}
