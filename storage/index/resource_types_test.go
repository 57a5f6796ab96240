package index_test

import (
	"fmt"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/storage/index"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

func attribute(name string, kind model.AttributeKind, required bool, fill any) *model.Attribute {
	return &model.Attribute{Name: name, Kind: kind, Required: required, MaxLength: 255, Fill: fill}
}

// hostType has one attribute: a place.
func hostType(t testing.TB) *model.ResourceType {
	t.Helper()
	host, err := model.NewResourceType("host", []*model.Attribute{attribute("place", model.KindString, true, nil)})
	fatal.If(t, err)
	return host
}

func newHost(text, place string) *model.Resource {
	r := newResource(text)
	r.Type, r.Attributes = "host", model.Values{{Name: "place", Value: place}}
	return r
}

func patchHost(s *index.Store, text, place string) error {
	_, err := s.UpdateResource(ctx, "host", newResource(text).ID, 100_000,
		func(r *model.Resource) (*index.MetricSet, error) {
			r.Attributes.Set("place", place)
			return nil, nil
		})
	return err
}

func addAttribute(s *index.Store, a *model.Attribute) error {
	_, err := s.UpdateResourceType(ctx, "host", func(old *model.ResourceType) (*model.ResourceType, error) {
		return old.Update(append(old.Attributes[:len(old.Attributes):len(old.Attributes)], a))
	})
	return err
}

func TestResourceTypeLifeCycle(t *testing.T) {
	fs := vfs.NewMem()
	s := open(t, index.Options{FS: fs})
	fatal.If(t, s.CreateResourceType(ctx, hostType(t)))
	err := s.CreateResourceType(ctx, hostType(t))
	wantIs(t, err, model.ErrExists)
	if err.Error() != "Resource type host already exists" {
		t.Errorf("text %q", err)
	}
	wantIs(t, s.CreateResourceType(ctx, model.GenericResourceType()), model.ErrExists)
	wantIs(t, s.DeleteResourceType(ctx, "generic"), model.ErrInUse)
	wantIs(t, s.DeleteResourceType(ctx, "hos"), model.ErrNotFound)

	wantIs(t, s.CreateResource(ctx, &model.Resource{ID: uuid.New(), Type: "vm"}, nil), model.ErrNotFound)
	f := func(values ...model.Value) {
		t.Helper()
		wantIs(t, s.CreateResource(ctx, &model.Resource{ID: uuid.New(), Type: "host", Attributes: values}, nil),
			model.ErrInvalid)
	}
	f()
	f(model.Value{Name: "place"})
	f(model.Value{Name: "place", Value: 1.0})
	f(model.Value{Name: "other", Value: "x"}, model.Value{Name: "place", Value: "x"})
	f(model.Value{Name: "place", Value: "x"}, model.Value{Name: "place", Value: "x"})

	fatal.If(t, s.CreateResource(ctx, newHost("a", "here"), nil))
	wantIs(t, s.DeleteResourceType(ctx, "host"), model.ErrInUse)
	closeStore(t, s)
	s = open(t, index.Options{FS: fs})
	wantIs(t, s.DeleteResourceType(ctx, "host"), model.ErrInUse)
	fatal.If(t, s.DeleteResource(ctx, "host", newResource("a").ID, nil))
	fatal.If(t, s.DeleteResourceType(ctx, "host"))
	wantIs(t, s.EachResource(ctx, "host", func(*model.Resource) bool { return true }), model.ErrNotFound)
	closeStore(t, s)
}

// Values written under one type are read under the next: attributes are filled in, disappear, and come back by name.
func TestResourcesFollowTheirType(t *testing.T) {
	fs := vfs.NewMem()
	s := open(t, index.Options{FS: fs})
	fatal.If(t, s.CreateResourceType(ctx, hostType(t)))
	id := uuid.MustParse("3b9e2f6c-0000-4000-8000-000000000001")
	fatal.If(t, s.CreateResource(ctx, newHost("a", "here"), nil))
	fatal.If(t, patchHost(s, "a", "there"))
	want := func(what string, want string) {
		t.Helper()
		for range 2 { // also as reopened
			var got string
			fatal.If(t, s.EachRevision(ctx, "host", func(r *model.Resource) bool {
				got += fmt.Sprintf("%s%d%v ", r.OriginalID, r.Revision, r.Attributes)
				return true
			}))
			if got != want+" " {
				t.Errorf("%s: got %swant %s", what, got, want)
			}
			closeStore(t, s)
			s = open(t, index.Options{FS: fs})
		}
	}
	update := func(attributes ...*model.Attribute) error {
		_, err := s.UpdateResourceType(ctx, "host", func(old *model.ResourceType) (*model.ResourceType, error) {
			return old.Update(append(attributes, attribute("place", model.KindString, true, nil)))
		})
		return err
	}
	want("as made", "a1[{place here}] a0[{place there}]")
	wantIs(t, update(attribute("n", model.KindNumber, true, nil)), model.ErrInvalid)
	wantIs(t, update(attribute("n", model.KindNumber, true, "text")), model.ErrInvalid)
	fatal.If(t, update(attribute("n", model.KindNumber, false, nil), attribute("id2", model.KindUUID, true, id)))
	want("added", "a1[{id2 "+id.String()+"} {n <nil>} {place here}] a0[{id2 "+id.String()+"} {n <nil>} {place there}]")

	other := newHost("b", "nowhere")
	other.Attributes = model.Values{{Name: "n", Value: 2.5}, {Name: "place", Value: "nowhere"}}
	fatal.If(t, update(attribute("n", model.KindNumber, false, nil)))
	fatal.If(t, s.CreateResource(ctx, other, nil))
	null := newHost("c", "nowhere")
	fatal.If(t, s.CreateResource(ctx, null, nil))
	fatal.If(t, update(attribute("n", model.KindNumber, true, 7.0)))
	b, c := "b0[{n 2.5} {place nowhere}]", "c0[{n 7} {place nowhere}]"
	want("required now", states("a1[{n 7} {place here}] a0[{n 7} {place there}]", b, c))

	// Optional again: values that were filled in stay, and null can be written anew.
	fatal.If(t, update(attribute("n", model.KindNumber, false, nil)))
	d := newHost("d", "null")
	fatal.If(t, s.CreateResource(ctx, d, nil))
	want("optional again", states("a1[{n 7} {place here}] a0[{n 7} {place there}]", b, c, "d0[{n <nil>} {place null}]"))

	// Gone, and back by its name: the old values are not its.
	wantIs(t, update(attribute("n", model.KindString, false, nil)), model.ErrInvalid)
	fatal.If(t, update())
	fatal.If(t, update(attribute("n", model.KindDatetime, true, carbonara.Timestamp(9))))
	want("back", states("a1[{n 9} {place here}] a0[{n 9} {place there}]", "b0[{n 9} {place nowhere}]",
		"c0[{n 9} {place nowhere}]", "d0[{n 9} {place null}]"))
	closeStore(t, s)
}

// states puts the states of resources a, b, c, d in the order of their IDs.
func states(all ...string) string {
	var text string
	for _, name := range sortedHosts() {
		for _, s := range all {
			if s[0] == name {
				text += s + " "
			}
		}
	}
	return text[:len(text)-1]
}

func sortedHosts() []byte {
	names := []byte("abcd")
	ids := func(i int) string { return newResource(string(names[i])).ID.String() }
	for i := range names {
		for j := range names[:i] {
			if ids(j) > ids(i) {
				names[i], names[j] = names[j], names[i]
			}
		}
	}
	return names
}
