package index_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/storage/index"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

// All kinds of values come back as they went in, null too, from the log and from disk.
func TestAttributesRoundTrip(t *testing.T) {
	fs := vfs.NewMem()
	s := open(t, index.Options{FS: fs})
	id := uuid.New()
	values := model.Values{
		{Name: "bool", Value: true}, {Name: "no", Value: false}, {Name: "null"}, {Name: "number", Value: -2.5},
		{Name: "text", Value: "a\x00é"}, {Name: "time", Value: carbonara.MaxTimestamp}, {Name: "uuid", Value: id},
	}
	kinds := []model.AttributeKind{model.KindBool, model.KindBool, model.KindString, model.KindNumber, model.KindString,
		model.KindDatetime, model.KindUUID}
	var attributes []*model.Attribute
	for i, v := range values {
		attributes = append(attributes, attribute(v.Name, kinds[i], v.Value != nil, nil))
	}
	all, err := model.NewResourceType("all", attributes)
	fatal.If(t, err)
	fatal.If(t, s.CreateResourceType(ctx, all))
	r := newResource("r")
	r.Type, r.Attributes = "all", values
	user, ended := "", carbonara.Timestamp(5)
	r.UserID, r.EndedAt = &user, &ended
	fatal.If(t, s.CreateResource(ctx, r, nil))
	closeStore(t, s)
	s = open(t, index.Options{FS: fs})
	defer closeStore(t, s)
	got, err := s.Resource("all", r.ID)
	fatal.If(t, err)
	if !slices.Equal(got.Attributes, values) || *got.UserID != "" || got.ProjectID != nil || *got.EndedAt != 5 ||
		got.RevisionEnd != nil {
		t.Errorf("got %+v", got)
	}
	_, err = s.Resource("generic", r.ID)
	fatal.If(t, err)
}

func TestHistory(t *testing.T) {
	s := open(t, index.Options{})
	defer closeStore(t, s)
	fatal.If(t, s.CreateResourceType(ctx, hostType(t)))
	fatal.If(t, s.CreateResource(ctx, newHost("a", "1"), nil))
	fatal.If(t, s.CreateResource(ctx, newHost("b", "1"), nil))
	fatal.If(t, patchHost(s, "a", "2"))
	fatal.If(t, patchHost(s, "b", "2"))
	fatal.If(t, patchHost(s, "a", "2")) // changes nothing
	fatal.If(t, patchHost(s, "a", "3"))
	id := newResource("a").ID
	states, err := s.History(ctx, "generic", id)
	fatal.If(t, err)
	var got string
	for i, r := range states {
		place, _ := r.Attributes.Get("place")
		got += fmt.Sprintf("%d:%s ", r.Revision, place)
		if i > 0 && (*states[i-1].RevisionEnd != r.RevisionStart || r.RevisionStart <= states[i-1].RevisionStart) {
			t.Errorf("revision %d begins at %d, the one before at %d and ends at %d", i, r.RevisionStart,
				states[i-1].RevisionStart, *states[i-1].RevisionEnd)
		}
	}
	if got != "1:1 3:2 0:3 " || states[2].RevisionEnd != nil {
		t.Errorf("history %s", got)
	}
	_, err = s.History(ctx, "other", id)
	wantIs(t, err, model.ErrNotFound)
	_, err = s.History(ctx, "host", uuid.New())
	wantIs(t, err, model.ErrNotFound)

	// It goes with the resource, and does not come back.
	fatal.If(t, s.DeleteResource(ctx, "generic", id, nil))
	fatal.If(t, s.CreateResource(ctx, newHost("a", "4"), nil))
	if states, err = s.History(ctx, "host", id); err != nil || len(states) != 1 {
		t.Errorf("%d states, %v", len(states), err)
	}
	n := 0
	fatal.If(t, s.EachRevision(ctx, "host", func(*model.Resource) bool { n++; return true }))
	if n != 3 {
		t.Errorf("%d states of all", n)
	}
	fatal.If(t, s.EachRevision(ctx, "generic", func(*model.Resource) bool { n--; return n > 2 }))
	if n != 2 {
		t.Error("it went on")
	}
}

func TestUpdateResourceMetrics(t *testing.T) {
	s := open(t, index.Options{})
	defer closeStore(t, s)
	web, db := newResource("web"), newResource("db")
	metric := func(name string) *model.Metric { m := newMetric("low"); m.Name = name; return m }
	cpu, mem, disk := metric("cpu"), metric("mem"), metric("disk")
	fatal.If(t, s.CreateResource(ctx, web, []*model.Metric{cpu, mem}))
	fatal.If(t, s.CreateResource(ctx, db, []*model.Metric{disk}))
	update := func(set *index.MetricSet) error {
		updated, err := s.UpdateResource(ctx, "generic", web.ID, 9_000_000,
			func(*model.Resource) (*index.MetricSet, error) { return set, nil })
		if err != nil {
			return err
		}
		read, err := s.Resource("generic", web.ID)
		fatal.If(t, err)
		if !maps.Equal(updated.Metrics, read.Metrics) || updated.RevisionStart != read.RevisionStart {
			t.Errorf("returned %+v, reads %+v", updated, read)
		}
		return nil
	}
	want := func(want map[string]uuid.UUID) {
		t.Helper()
		got, err := s.Resource("generic", web.ID)
		fatal.If(t, err)
		if !maps.Equal(got.Metrics, want) {
			t.Errorf("metrics are %v, want %v", got.Metrics, want)
		}
		for name, id := range want {
			if m := s.Lookup(id); m == nil || m.Name != name || m.ResourceID == nil || *m.ResourceID != web.ID {
				t.Errorf("metric %s is %+v", name, m)
			}
		}
	}
	// Two metrics change names.
	fatal.If(t, update(&index.MetricSet{Attach: map[string]uuid.UUID{"cpu": mem.ID, "mem": cpu.ID}}))
	want(map[string]uuid.UUID{"cpu": mem.ID, "mem": cpu.ID})
	// One is kept by its ID, one comes from another resource, one is new, one stays by itself.
	idle := metric("idle")
	fatal.If(t, update(&index.MetricSet{Attach: map[string]uuid.UUID{"cpu": mem.ID, "disk": disk.ID},
		Create: []*model.Metric{idle}}))
	want(map[string]uuid.UUID{"cpu": mem.ID, "disk": disk.ID, "idle": idle.ID})
	if m := s.Lookup(cpu.ID); m == nil || m.ResourceID != nil || m.Name != "mem" {
		t.Errorf("the metric that was left out is %+v", m)
	}
	if got, _ := s.Resource("generic", db.ID); len(got.Metrics) != 0 {
		t.Errorf("the other resource still has %v", got.Metrics)
	}
	// More, and the name of one taken.
	more := metric("more")
	wantIs(t, update(&index.MetricSet{Keep: true, Create: []*model.Metric{more, metric("cpu")}}), model.ErrExists)
	wantIs(t, update(&index.MetricSet{Keep: true, Attach: map[string]uuid.UUID{"idle": cpu.ID}}), model.ErrExists)
	wantIs(t, update(&index.MetricSet{Keep: true, Attach: map[string]uuid.UUID{"x": uuid.New()}}), model.ErrNotFound)
	wantIs(t, update(&index.MetricSet{Keep: true, Attach: map[string]uuid.UUID{"x": cpu.ID, "y": cpu.ID}}),
		model.ErrInvalid)
	wantIs(t, update(&index.MetricSet{Keep: true, Attach: map[string]uuid.UUID{"x/y": cpu.ID}}), model.ErrInvalid)
	want(map[string]uuid.UUID{"cpu": mem.ID, "disk": disk.ID, "idle": idle.ID})
	fatal.If(t, update(&index.MetricSet{Keep: true, Create: []*model.Metric{more},
		Attach: map[string]uuid.UUID{"was idle": idle.ID}}))
	want(map[string]uuid.UUID{"cpu": mem.ID, "disk": disk.ID, "was idle": idle.ID, "more": more.ID})
	// These changes make no revision.
	if states, err := s.History(ctx, "generic", web.ID); err != nil || len(states) != 1 {
		t.Errorf("%d states, %v", len(states), err)
	}
	// The same name for a new metric as one had that is replaced.
	fresh := metric("cpu")
	fatal.If(t, update(&index.MetricSet{Create: []*model.Metric{fresh}}))
	want(map[string]uuid.UUID{"cpu": fresh.ID})
}

func TestUpdateResourceRefuses(t *testing.T) {
	s := open(t, index.Options{})
	defer closeStore(t, s)
	fatal.If(t, s.CreateResourceType(ctx, hostType(t)))
	fatal.If(t, s.CreateResource(ctx, newHost("a", "here"), nil))
	id := newResource("a").ID
	refused := errors.New("refused")
	f := func(want error, update func(*model.Resource) (*index.MetricSet, error)) {
		t.Helper()
		_, err := s.UpdateResource(ctx, "host", id, 9, update)
		wantIs(t, err, want)
	}
	f(refused, func(r *model.Resource) (*index.MetricSet, error) {
		r.Attributes.Set("place", "elsewhere")
		return nil, refused
	})
	f(model.ErrInvalid, func(r *model.Resource) (*index.MetricSet, error) {
		r.Attributes.Set("place", nil)
		return nil, nil
	})
	f(model.ErrInvalid, func(r *model.Resource) (*index.MetricSet, error) {
		r.Attributes.Set("other", "x")
		return nil, nil
	})
	f(model.ErrInvalid, func(r *model.Resource) (*index.MetricSet, error) {
		ended := carbonara.Timestamp(0)
		r.EndedAt = &ended
		return nil, nil
	})
	wantIs(t, s.DeleteResource(ctx, "host", id, func(*model.Resource) error { return refused }), refused)
	wantIs(t, s.DeleteResource(ctx, "other", id, nil), model.ErrNotFound)
	states, err := s.History(ctx, "host", id)
	if err != nil || len(states) != 1 || states[0].Attributes[0].Value != "here" {
		t.Errorf("left: %v, %v", states, err)
	}
}

func TestEachResourceOfAType(t *testing.T) {
	s := open(t, index.Options{})
	defer closeStore(t, s)
	fatal.If(t, s.CreateResourceType(ctx, hostType(t)))
	var all, hosts int
	for i := range 50 {
		if i%7 == 0 {
			fatal.If(t, s.CreateResource(ctx, newHost(fmt.Sprint(i), "here"), nil))
			hosts++
		} else {
			fatal.If(t, s.CreateResource(ctx, newResource(fmt.Sprint(i)), nil))
		}
		all++
	}
	count := func(resourceType string) (n int) {
		var last uuid.UUID
		fatal.If(t, s.EachResource(ctx, resourceType, func(r *model.Resource) bool {
			if string(r.ID[:]) <= string(last[:]) {
				t.Error("out of order")
			}
			last = r.ID
			n++
			return true
		}))
		return n
	}
	if count("generic") != all || count("host") != hosts {
		t.Errorf("%d of %d, %d hosts of %d", count("generic"), all, count("host"), hosts)
	}
}

func TestCreateResourcesIsAllOrNothing(t *testing.T) {
	s := open(t, index.Options{})
	defer closeStore(t, s)
	m := newMetric("low")
	fatal.If(t, s.CreateMetric(ctx, m))
	a, b, twice := newResource("a"), newResource("b"), newResource("a")
	for _, r := range []*model.Resource{a, b, twice} {
		r.Creator = m.Creator
	}
	of := func(r *model.Resource, metrics ...*model.Metric) index.NewResource {
		return index.NewResource{Resource: r, Metrics: metrics}
	}
	named := newMetric("low")
	named.Name = "cpu"
	refused := func(want error, given ...index.NewResource) {
		t.Helper()
		wantIs(t, s.CreateResources(ctx, given), want)
		if found, err := s.ListResources(ctx, 0, uuid.Nil); err != nil || len(found) > 0 {
			t.Errorf("%d resources, %v", len(found), err)
		}
		if found, err := s.ListMetrics(ctx, index.MetricQuery{}); err != nil || len(found) != 1 ||
			found[0].ResourceID != nil {
			t.Errorf("metrics %v, %v", found, err)
		}
	}
	refused(model.ErrExists, of(a, named), of(b), of(twice))
	refused(model.ErrExists, of(a, named), of(b, named)) // one ID for two metrics

	// A metric goes to one resource.
	a.Metrics, b.Metrics = map[string]uuid.UUID{"x": m.ID}, map[string]uuid.UUID{"y": m.ID}
	refused(model.ErrInvalid, of(a), of(b))
	b.Metrics = nil
	fatal.If(t, s.CreateResources(ctx, []index.NewResource{of(a), of(b, named)}))
	if found, err := s.MetricOfResource(a.ID, "x"); err != nil || found.ID != m.ID {
		t.Error(found, err)
	}
}

// A resource from elsewhere keeps its past, and its next states follow on that.
func TestNewResourceWithAPast(t *testing.T) {
	s := open(t, index.Options{FS: vfs.NewMem()})
	first, second := newResource("r"), newResource("r")
	past := newResource("r")
	past.RevisionStart = 1000
	end := carbonara.Timestamp(2000)
	past.RevisionEnd = &end
	first.RevisionStart = end
	second.ID = uuid.New()
	fatal.If(t, s.CreateResources(ctx, []index.NewResource{{Resource: first, Past: []*model.Resource{past}},
		{Resource: second}}))
	_, err := s.UpdateResource(ctx, model.GenericType, first.ID, 3000,
		func(r *model.Resource) (*index.MetricSet, error) {
			r.ProjectID = &r.Creator
			return nil, nil
		})
	fatal.If(t, err)
	states, err := s.History(ctx, model.GenericType, first.ID)
	fatal.If(t, err)
	var got []string
	for _, r := range states {
		got = append(got, fmt.Sprint(r.Revision, r.RevisionStart))
	}
	if want := []string{fmt.Sprint(1, past.RevisionStart), fmt.Sprint(2, end),
		fmt.Sprint(0, carbonara.Timestamp(3000))}; !slices.Equal(got, want) {
		t.Errorf("states %q, want %q", got, want)
	}
}
