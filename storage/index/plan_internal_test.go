package index

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/model/filter"
	"github.com/gnocco-db/gnocco/storage/index/keyspace"
	"github.com/gnocco-db/gnocco/storage/index/metrics"
	"github.com/gnocco-db/gnocco/storage/index/records"
	"github.com/gnocco-db/gnocco/storage/index/search"
	"github.com/gnocco-db/gnocco/tests/seedtest"
)

// plan is a store at random, and what is asked of it.
type plan struct {
	t     testing.TB
	r     *rand.Rand
	fs    vfs.FS
	s     *Store
	clock carbonara.Timestamp
	ids   []uuid.UUID // of resources that were ever created
	texts []string
}

// After any writes, the index finds the same records as a scan of everything, and it holds exactly the keys that it
// should.
func TestPlanAgainstScan(t *testing.T) {
	seeds := []uint64{seedtest.Next(t), 101, 102, 103}[:seedtest.Rounds(1, 4)]
	for _, seed := range seeds {
		t.Run(fmt.Sprint("seed=", seed), func(t *testing.T) { newPlan(t, seed).run(10, 30) })
	}
}

func FuzzPlanAgainstScan(f *testing.F) {
	f.Add(uint64(1), uint8(3))
	f.Fuzz(func(t *testing.T, seed uint64, rounds uint8) { newPlan(t, seed).run(int(rounds%4)+1, 20) })
}

func newPlan(t testing.TB, seed uint64) *plan {
	p := &plan{t: t, r: rand.New(rand.NewPCG(seed, 0)), fs: vfs.NewMem(), clock: 1_000_000_000_000_000,
		texts: []string{"", "a", "ab", "ab\x00", "ab\x00c", "b", "b:x", "a:b", "é%", "z\xff"}}
	p.open()
	p.must(p.s.CreateResourceType(context.Background(), p.kind("server", nil)))
	p.must(p.s.CreateResourceType(context.Background(), p.kind("disk", nil)))
	return p
}

func (p *plan) must(err error) {
	p.t.Helper()
	if err != nil {
		p.t.Fatal(err)
	}
}

func (p *plan) open() {
	s, err := Open("index", Options{FS: p.fs})
	p.must(err)
	p.s = s
}

// kind is a type with an attribute of each kind, and others.
func (p *plan) kind(name string, others []*model.Attribute) *model.ResourceType {
	kind, err := model.NewResourceType(name, append(others,
		&model.Attribute{Name: "host", Kind: model.KindString, MaxLength: 255, Required: name == "server"},
		&model.Attribute{Name: "image", Kind: model.KindUUID}, &model.Attribute{Name: "memory", Kind: model.KindNumber},
		&model.Attribute{Name: "on", Kind: model.KindBool},
		&model.Attribute{Name: "launched", Kind: model.KindDatetime}))
	p.must(err)
	return kind
}

func (p *plan) run(rounds, queries int) {
	for range rounds {
		*p.s.limits = keyspace.Costs{FewCandidates: p.r.IntN(20), StreamedRows: p.r.IntN(60),
			ScansPerRead: 1 + p.r.IntN(6)}
		for range 3 {
			p.write()
		}
		if p.r.IntN(3) == 0 {
			p.must(p.s.log.DB.Flush()) // a scan of keys goes by tables
		}
		p.checkKeys()
		for range queries {
			p.findResources()
			p.listMetrics()
		}
		if p.r.IntN(3) == 0 {
			p.must(p.s.Close())
			p.open()
		}
	}
	p.must(p.s.Close())
}

func (p *plan) write() {
	ctx := context.Background()
	switch p.r.IntN(9) {
	case 0, 1, 2:
		var created []NewResource
		for range 1 + p.r.IntN(30) {
			created = append(created, p.resource())
		}
		p.must(p.s.CreateResources(ctx, created))
	case 3, 4:
		for range 10 {
			p.clock += carbonara.Timestamp(p.r.IntN(3000))
			_, err := p.s.UpdateResource(ctx, model.GenericType, p.anyID(), p.clock,
				func(r *model.Resource) (*metrics.Set, error) {
					t, err := p.s.ResourceType(r.Type)
					p.must(err)
					changed := p.state(r.ID, t)
					r.ProjectID, r.EndedAt, r.StartedAt, r.Attributes =
						changed.ProjectID, changed.EndedAt, changed.StartedAt, changed.Attributes
					if p.r.IntN(3) == 0 {
						return &metrics.Set{Create: p.metrics(), Keep: p.r.IntN(2) == 0}, nil
					}
					return nil, nil
				})
			// a metric's name is taken
			if err != nil && !errors.Is(err, model.ErrNotFound) && !errors.Is(err, model.ErrExists) {
				p.t.Fatal(err)
			}
		}
	case 5:
		ids := []uuid.UUID{p.anyID(), p.anyID(), p.anyID()}
		_, err := p.s.DeleteResources(ctx, ids)
		p.must(err)
		deleted, err := p.s.DeletedMetrics(ctx, 2)
		p.must(err)
		p.must(p.s.Expunge(ctx, deleted...))
	case 7:
		id := p.anyID()
		_, err := p.s.UpdateResource(ctx, model.GenericType, id, p.clock,
			func(r *model.Resource) (*metrics.Set, error) {
				attach := map[string]uuid.UUID{} // of its own, or of another resource
				other, err := p.s.Resource(model.GenericType, p.anyID())
				if err != nil || other.Creator != r.Creator {
					return nil, nil
				}
				for name, metric := range other.Metrics {
					attach[[]string{"", "x"}[p.r.IntN(2)]+name] = metric
				}
				return &metrics.Set{Attach: attach, Keep: p.r.IntN(2) == 0}, nil
			})
		if err != nil && !errors.Is(err, model.ErrNotFound) && !errors.Is(err, model.ErrExists) {
			p.t.Fatal(err)
		}
	case 8:
		for range 5 {
			metrics := p.metrics()
			id := p.anyID()
			for _, m := range metrics {
				m.ResourceID = &id
			}
			err := p.s.CreateMetrics(ctx, metrics)
			if err != nil && !errors.Is(err, model.ErrNotFound) && !errors.Is(err, model.ErrExists) {
				p.t.Fatal(err)
			}
			for name := range []string{"a", "ab"} {
				if m, err := p.s.MetricOfResource(p.anyID(), []string{"a", "ab"}[name]); err == nil &&
					p.r.IntN(2) == 0 {
					p.must(p.s.DeleteMetric(ctx, m.ID))
				}
			}
		}
	case 6:
		_, err := p.s.UpdateResourceType(ctx, "server", func(old *model.ResourceType) (*model.ResourceType, error) {
			attributes := slices.DeleteFunc(slices.Clone(old.Attributes), func(a *model.Attribute) bool {
				return a.Name == "late" && p.r.IntN(2) == 0 || a.Name == "image"
			})
			if old.Attribute("late") == nil {
				late := &model.Attribute{Name: "late", Kind: model.KindString, MaxLength: 255}
				if p.r.IntN(2) == 0 {
					late.Fill = "ab"
				}
				attributes = append(attributes, late)
			}
			attributes = append(attributes, &model.Attribute{Name: "image", Kind: model.KindUUID, Fill: p.image()})
			return old.Update(attributes)
		})
		p.must(err)
	}
}

func (p *plan) anyID() uuid.UUID {
	if len(p.ids) == 0 {
		return uuid.Nil
	}
	return p.ids[p.r.IntN(len(p.ids))]
}

func (p *plan) text() string { return p.texts[p.r.IntN(len(p.texts))] }

func (p *plan) textOrNull() *string {
	if p.r.IntN(3) == 0 {
		return nil
	}
	text := p.text()
	return &text
}

func (p *plan) image() uuid.UUID { return uuid.UUID{15: byte(p.r.IntN(5))} }

func (p *plan) number() float64 { return []float64{0, -1, 1.5, -2e300, 7, 8}[p.r.IntN(6)] }

func (p *plan) time() carbonara.Timestamp { return carbonara.Timestamp(p.r.IntN(9000)) }

// state is a resource of a type.
func (p *plan) state(id uuid.UUID, t *model.ResourceType) *model.Resource {
	r := &model.Resource{ID: id, Type: t.Name, Creator: p.text(), UserID: p.textOrNull(), ProjectID: p.textOrNull(),
		StartedAt: p.time(), RevisionStart: p.clock}
	if p.r.IntN(2) == 0 {
		ended := r.StartedAt + p.time()
		r.EndedAt = &ended
	}
	for _, a := range t.Attributes {
		var value any
		switch a.Kind {
		case model.KindString:
			value = p.text()
		case model.KindUUID:
			value = p.image()
		case model.KindNumber:
			value = p.number()
		case model.KindBool:
			value = p.r.IntN(2) == 0
		case model.KindDatetime:
			value = p.time()
		}
		if !a.Required && p.r.IntN(3) == 0 {
			value = nil
		}
		r.Attributes.Set(a.Name, value)
	}
	return r
}

func (p *plan) resource() NewResource {
	p.clock += carbonara.Timestamp(p.r.IntN(1500))
	n := len(p.ids) // no ID comes twice
	id := uuid.UUID{byte(p.r.Uint32()), byte(p.r.Uint32()), byte(p.r.Uint32()), 13: byte(n >> 8), 14: byte(n), 15: 1}
	t, err := p.s.ResourceType([]string{"server", "server", "disk", model.GenericType}[p.r.IntN(4)])
	p.must(err)
	r := p.state(id, t)
	r.OriginalID = id.String()
	if p.r.IntN(3) == 0 {
		r.OriginalID = p.text()
	}
	p.ids = append(p.ids, id)
	return NewResource{Resource: r, Metrics: p.metrics()}
}

// metrics have different names.
func (p *plan) metrics() []*model.Metric {
	var metrics []*model.Metric
	for _, name := range p.texts[1 : 1+p.r.IntN(3)] {
		low, err := p.s.ArchivePolicy([]string{"low", "high"}[p.r.IntN(2)])
		p.must(err)
		m := &model.Metric{ID: model.NewMetricID(), Name: name, ArchivePolicy: low}
		if p.r.IntN(2) == 0 {
			m.Unit = []string{"B", "s"}[p.r.IntN(2)]
		}
		metrics = append(metrics, m)
	}
	return metrics
}

// checkMetricsOfResources compares the metrics that resources name, in their values or by keys, with the metrics that
// name a resource.
func (p *plan) checkMetricsOfResources() {
	p.t.Helper()
	ctx := context.Background()
	want := map[uuid.UUID]map[string]uuid.UUID{}
	p.must(p.s.log.Scan(ctx, []byte{keyspace.Metric}, nil, func(key, _ []byte) (bool, error) {
		m, err := p.s.Read(uuid.UUID(key[1:]))
		if err == nil && m.ResourceID != nil {
			if want[*m.ResourceID] == nil {
				want[*m.ResourceID] = map[string]uuid.UUID{}
			}
			want[*m.ResourceID][m.Name] = m.ID
		}
		return true, err
	}))
	named := map[uuid.UUID]int{}
	p.must(p.s.log.Scan(ctx, []byte{keyspace.NamedMetric}, nil, func(key, _ []byte) (bool, error) {
		named[uuid.UUID(key[1:17])]++
		return true, nil
	}))
	kind, err := p.s.ResourceType(model.GenericType)
	p.must(err)
	all, err := filter.Compile(nil, filter.Scope{Type: kind})
	p.must(err)
	q := search.Query{Type: model.GenericType, Filter: all, History: p.r.IntN(2) == 0, Metrics: true}
	found, err := p.s.FindResources(ctx, q)
	p.must(err)
	q.Names = []string{"none of it"}
	for _, metrics := range want {
		q.Names = slices.AppendSeq(q.Names, maps.Keys(metrics))[:min(2, 1+len(metrics))]
		break
	}
	some, err := p.s.FindResources(ctx, q)
	p.must(err)
	for i, r := range found {
		wanted := maps.Clone(r.Metrics)
		maps.DeleteFunc(wanted, func(name string, _ uuid.UUID) bool { return !slices.Contains(q.Names, name) })
		if len(some) != len(found) || some[i].ID != r.ID || !maps.Equal(some[i].Metrics, wanted) {
			p.t.Fatalf("resource %s: metrics %v of names %q, want %v", r.ID, some[i].Metrics, q.Names, wanted)
		}
		have, err := p.s.Resource(model.GenericType, r.ID)
		p.must(err)
		if !maps.Equal(r.Metrics, want[r.ID]) || !maps.Equal(have.Metrics, want[r.ID]) {
			p.t.Fatalf("resource %s: metrics %v, and %v if found; want %v", r.ID, have.Metrics, r.Metrics, want[r.ID])
		}
		for name, id := range want[r.ID] {
			if m, err := p.s.MetricOfResource(r.ID, name); err != nil || m.ID != id {
				p.t.Fatalf("resource %s, metric %q: %v, %v; want %s", r.ID, name, m, err, id)
			}
		}
		if _, err := p.s.MetricOfResource(r.ID, "none of it"); !errors.Is(err, model.ErrNotFound) {
			p.t.Fatalf("resource %s: a metric that it does not have: %v", r.ID, err)
		}
		if listed, err := p.listsMetrics(r.ID); err != nil || listed && named[r.ID] > 0 {
			p.t.Fatalf("resource %s lists its metrics, and %d have keys; %v", r.ID, named[r.ID], err)
		}
	}
	for id := range want {
		if _, err := p.s.Resource(model.GenericType, id); err != nil {
			p.t.Fatalf("metrics of resource %s: %v", id, err)
		}
	}
}

// listsMetrics reports whether a resource's value lists its metrics.
func (p *plan) listsMetrics(id uuid.UUID) (bool, error) {
	value, err := p.s.log.Get(keyspace.IDKey(keyspace.Resource, id))
	if err != nil {
		return false, err
	}
	_, listed, err := records.InlineOf(id, value)
	return listed, err
}

// checkKeys compares the keys that are there with those that should be.
func (p *plan) checkKeys() {
	p.t.Helper()
	ctx := context.Background()
	want := map[string]bool{}
	resources := int64(0)
	p.checkMetricsOfResources()
	p.must(p.s.log.Scan(ctx, []byte{keyspace.Resource}, nil, func(key, value []byte) (bool, error) {
		resources++
		keys, err := records.ResourceKeys(uuid.UUID(key[1:]), value)
		for _, key := range keys {
			want[key] = true
		}
		return true, err
	}))
	p.must(p.s.log.Scan(ctx, []byte{keyspace.Metric}, nil, func(key, _ []byte) (bool, error) {
		m, err := p.s.Read(uuid.UUID(key[1:]))
		if err == nil && !m.Deleted {
			for _, key := range records.MetricKeys(m) {
				want[string(key)] = true
			}
		}
		return true, err
	}))
	for _, prefix := range []byte{keyspace.TypeResource, keyspace.Field, keyspace.Attribute, keyspace.MetricField} {
		p.must(p.s.log.Scan(ctx, []byte{prefix}, nil, func(key, _ []byte) (bool, error) {
			if !want[string(key)] {
				p.t.Fatalf("key %q leads nowhere", key)
			}
			delete(want, string(key))
			return true, nil
		}))
	}
	if n := p.s.log.Resources.Load(); n != resources {
		p.t.Fatalf("%d resources are counted, %d are there", n, resources)
	}
	for key := range want {
		p.t.Fatalf("key %q is missing", key)
	}
}

// value is one to compare a column with, in a tree.
func (p *plan) value(column string) any {
	if p.r.IntN(12) == 0 {
		return nil
	}
	switch column {
	case "id":
		return p.anyID().String()
	case "original_resource_id":
		if p.r.IntN(2) == 0 {
			return p.anyID().String()
		}
	case "image":
		return p.image().String()
	case "memory":
		return fmt.Sprint(p.number())
	case "on":
		return p.r.IntN(2) == 0
	case "started_at", "ended_at", "launched":
		return fmt.Sprintf("1970-01-01T00:00:00.00000%d", p.r.IntN(10))
	case "revision_start":
		return (p.clock - carbonara.Timestamp(p.r.IntN(30_000))).Time().Format("2006-01-02T15:04:05.000000")
	case "type":
		return []string{"server", "disk"}[p.r.IntN(2)]
	}
	return p.text()
}

// tree is a filter of a depth at most.
func (p *plan) tree(columns []string, depth int) any {
	switch n := p.r.IntN(10); {
	case depth > 0 && n < 3:
		return map[string]any{[]string{"and", "or"}[n%2]: []any{p.tree(columns, depth-1), p.tree(columns, depth-1)}}
	case depth > 0 && n == 3:
		return map[string]any{"not": p.tree(columns, depth-1)}
	}
	column := columns[p.r.IntN(len(columns))]
	op := []string{"=", "=", "=", "!=", "<", "<=", ">", ">=", "in", "like"}[p.r.IntN(10)]
	value := p.value(column)
	switch {
	case op == "in":
		value = []any{value, p.value(column)}
	case op == "like":
		value = p.text() + []string{"%", "", "_", "%b"}[p.r.IntN(4)]
	}
	return map[string]any{op: map[string]any{column: value}}
}

// findResources asks for resources, and looks at all of them.
func (p *plan) findResources() {
	p.t.Helper()
	ctx := context.Background()
	t, err := p.s.ResourceType([]string{"server", "server", "disk", model.GenericType}[p.r.IntN(4)])
	p.must(err)
	columns := []string{"id", "type", "creator", "original_resource_id", "user_id", "project_id", "started_at",
		"ended_at", "revision_start"}
	for _, a := range t.Attributes {
		columns = append(columns, a.Name)
	}
	q := search.Query{Type: t.Name, Limit: p.r.IntN(12), History: p.r.IntN(3) == 0}
	scope := filter.Scope{Type: t, Creator: "a", Now: p.clock, History: q.History}
	tree := p.tree(append(columns, "created_by_user_id", "created_by_project_id"), 3)
	e, err := filter.ParseTree(tree)
	if err != nil {
		return // like does not go with an ID
	}
	if p.r.IntN(5) == 0 {
		e = nil
	}
	if q.Filter, err = filter.Compile(e, scope); err != nil {
		return // a text that is no time, and the like
	}
	var keys []string
	for range p.r.IntN(3) {
		keys = append(keys, columns[p.r.IntN(len(columns))]+
			[]string{"", ":desc", ":asc-nullsfirst", ":desc-nullslast"}[p.r.IntN(4)])
	}
	if p.r.IntN(3) == 0 {
		keys = filter.DefaultOrder
	}
	compare := compareStates
	if p.r.IntN(4) > 0 {
		q.Order, err = filter.ParseOrder(keys, scope)
		p.must(err)
		compare = q.Order.Compare
	}
	if p.r.IntN(4) == 0 {
		q.Visible = func(r *model.Resource) bool { return r.ID[0]%2 == 0 }
	}
	var want []*model.Resource
	each := p.s.EachResource
	if q.History {
		each = p.s.EachRevision
	}
	p.must(each(ctx, t.Name, func(r *model.Resource) bool {
		if q.Filter.Matches(r) && (q.Visible == nil || q.Visible(r)) {
			want = append(want, r)
		}
		return true
	}))
	if !q.History {
		p.findNamedMetrics(q)
	}
	slices.SortFunc(want, compare)
	for {
		got, err := p.s.FindResources(ctx, q)
		p.must(err)
		page := want
		if q.Limit > 0 {
			page = want[:min(q.Limit, len(want))]
		}
		if !slices.EqualFunc(got, page, sameResource) {
			p.t.Fatalf("%v by %v after %v, limit %d, history %t, limits %+v: found %s, want %s",
				tree, keys, q.After, q.Limit, q.History, *p.s.limits, resourceIDs(got), resourceIDs(page))
		}
		if q.Limit == 0 || len(page) < q.Limit {
			return
		}
		want, q.After = want[len(page):], page[len(page)-1]
	}
}

// findNamedMetrics compares the metrics of resources that are found alone with those that are found with the resources.
func (p *plan) findNamedMetrics(q search.Query) {
	p.t.Helper()
	q.Limit, q.Metrics, q.Names = 0, true, p.texts[1:3]
	resources, err := p.s.FindResources(context.Background(), q)
	p.must(err)
	var want []search.NamedMetric
	for _, r := range resources {
		for name, id := range r.Metrics {
			want = append(want, search.NamedMetric{Name: slices.Index(q.Names, name), ID: id})
		}
	}
	got, err := p.s.FindNamedMetrics(context.Background(), q)
	p.must(err)
	again, err := p.s.FindNamedMetrics(context.Background(), q)
	p.must(err)
	if !slices.Equal(got, again) {
		p.t.Fatalf("metrics %q of resources: %v, and then %v", q.Names, got, again)
	}
	byID := func(a, b search.NamedMetric) int { return model.CompareIDs(a.ID, b.ID) }
	slices.SortFunc(want, byID)
	slices.SortFunc(got, byID)
	if !slices.Equal(got, want) {
		p.t.Fatalf("metrics %q of resources: %v, want %v", q.Names, got, want)
	}
}

func sameResource(a, b *model.Resource) bool {
	return a.ID == b.ID && a.Revision == b.Revision && a.Type == b.Type && sameState(a, b) &&
		a.OriginalID == b.OriginalID &&
		a.Creator == b.Creator && a.RevisionStart == b.RevisionStart && same(a.RevisionEnd, b.RevisionEnd)
}

func resourceIDs(resources []*model.Resource) string {
	var ids []string
	for _, r := range resources {
		ids = append(ids, fmt.Sprintf("%s@%d", r.ID, r.Revision))
	}
	return fmt.Sprint(ids)
}

// listMetrics asks for metrics, page by page, and looks at all of them.
func (p *plan) listMetrics() {
	p.t.Helper()
	ctx := context.Background()
	q := metrics.Query{Limit: p.r.IntN(12), Deleted: p.r.IntN(8) == 0}
	some := func(from ...string) *string {
		if p.r.IntN(3) > 0 {
			return nil
		}
		return &from[p.r.IntN(len(from))]
	}
	q.Name, q.Unit = some("a", "ab", "none"), some("B", "s", "")
	q.Creator, q.ArchivePolicyName = some(p.texts...), some("low", "high", "medium")
	sortable := slices.Sorted(maps.Keys(sortableBy))
	for range p.r.IntN(3) {
		q.Sort = append(q.Sort, metrics.SortKey{Key: sortable[p.r.IntN(len(sortable))], Descending: p.r.IntN(2) == 0,
			Nulls: metrics.NullOrder(p.r.IntN(3))})
	}
	if p.r.IntN(4) == 0 {
		q.Visible = func(m *model.Metric) bool { return m.ID[15]%2 == 0 }
	}
	var want []*model.Metric
	p.must(p.s.log.Scan(ctx, []byte{keyspace.Metric}, nil, func(key, _ []byte) (bool, error) {
		m, err := p.s.Read(uuid.UUID(key[1:]))
		if err == nil && isAfter(q, m) {
			want = append(want, m)
		}
		return true, err
	}))
	slices.SortFunc(want, func(a, b *model.Metric) int { return compareBy(q.Sort, a, b) })
	for {
		got, err := p.s.ListMetrics(ctx, q)
		p.must(err)
		page := want
		if q.Limit > 0 {
			page = want[:min(q.Limit, len(want))]
		}
		if !slices.EqualFunc(got, page, func(a, b *model.Metric) bool { return a.ID == b.ID && a.Name == b.Name }) {
			p.t.Fatalf("%+v, limits %+v: %d metrics, want %d", q, *p.s.limits, len(got), len(page))
		}
		if q.Limit == 0 || len(page) < q.Limit {
			return
		}
		want, q.Marker = want[len(page):], page[len(page)-1].ID
	}
}

// isAfter reports whether a query is after a metric.
func isAfter(q metrics.Query, m *model.Metric) bool {
	equal := func(want *string, have string) bool { return want == nil || *want == have }
	return m.Deleted == q.Deleted && equal(q.Name, m.Name) && equal(q.Unit, m.Unit) && equal(q.Creator, m.Creator) &&
		equal(q.ArchivePolicyName, m.ArchivePolicy.Name) && (q.Visible == nil || q.Visible(m))
}

// sortableBy gives the text that metrics are compared by; "" is none.
var sortableBy = map[string]func(*model.Metric) string{
	"id":                  func(m *model.Metric) string { return m.ID.String() },
	"name":                func(m *model.Metric) string { return m.Name },
	"unit":                func(m *model.Metric) string { return m.Unit },
	"creator":             func(m *model.Metric) string { return m.Creator },
	"archive_policy_name": func(m *model.Metric) string { return m.ArchivePolicy.Name },
	"status":              func(m *model.Metric) string { return "" }, // all that a query lists have the same
	"resource_id": func(m *model.Metric) string {
		if m.ResourceID == nil {
			return ""
		}
		return m.ResourceID.String()
	},
}

// compareBy compares metrics by keys, and then by ID.
func compareBy(keys []metrics.SortKey, a, b *model.Metric) int {
	for _, key := range keys {
		x, y := sortableBy[key.Key](a), sortableBy[key.Key](b)
		if x == y {
			continue
		}
		if (x == "") != (y == "") {
			last := !key.Descending
			if key.Nulls != metrics.NullsDefault {
				last = key.Nulls == metrics.NullsLast
			}
			if (x == "") == last {
				return 1
			}
			return -1
		}
		if (x < y) != key.Descending {
			return -1
		}
		return 1
	}
	return model.CompareIDs(a.ID, b.ID)
}

// A resource's value lists its metrics until they change; lookups return the same before and after.
func TestListedMetrics(t *testing.T) {
	p := newPlan(t, 9)
	ctx := context.Background()
	low, err := p.s.ArchivePolicy("low")
	p.must(err)
	metric := func(name string) *model.Metric {
		return &model.Metric{ID: model.NewMetricID(), Name: name, Creator: "a", ArchivePolicy: low}
	}
	create := func(n int) *model.Resource {
		r := &model.Resource{ID: uuid.New(), Type: model.GenericType, Creator: "a", RevisionStart: 1}
		r.OriginalID = r.ID.String()
		var metrics []*model.Metric
		for i := range n {
			metrics = append(metrics, metric(fmt.Sprint("m", i)))
		}
		p.must(p.s.CreateResource(ctx, r, metrics))
		return r
	}
	check := func(r *model.Resource, wantListed bool, want int) {
		t.Helper()
		found, err := p.s.Resource(model.GenericType, r.ID)
		p.must(err)
		if listed, err := p.listsMetrics(r.ID); err != nil || listed != wantListed ||
			len(found.Metrics) != want {
			t.Errorf("%d metrics, listed %t, want %d, %t; %v", len(found.Metrics), listed, want, wantListed, err)
		}
		p.checkMetricsOfResources()
	}
	check(create(0), false, 0)
	check(create(records.MostInline+1), false, records.MostInline+1)
	r := create(3)
	check(r, true, 3)
	user := "u"
	_, err = p.s.UpdateResource(ctx, model.GenericType, r.ID, 5_000_000, func(r *model.Resource) (*metrics.Set, error) {
		r.UserID = &user
		return nil, nil
	})
	p.must(err)
	check(r, true, 3) // the state before has no list
	taken := metric("m1")
	taken.ResourceID = &r.ID
	if err := p.s.CreateMetric(ctx, taken); !errors.Is(err, model.ErrExists) {
		t.Errorf("a metric of a name that is listed: %v", err)
	}
	check(r, true, 3)
	another := metric("m3")
	another.ResourceID = &r.ID
	p.must(p.s.CreateMetric(ctx, another))
	check(r, false, 4)
	r = create(2)
	m, err := p.s.MetricOfResource(r.ID, "m0")
	p.must(err)
	p.must(p.s.DeleteMetric(ctx, m.ID))
	check(r, false, 1)
	r = create(2)
	p.must(p.s.DeleteResource(ctx, model.GenericType, r.ID, nil))
	if _, err := p.s.MetricOfResource(r.ID, "m0"); !errors.Is(err, model.ErrNotFound) {
		t.Errorf("a metric of a resource that is gone: %v", err)
	}
	p.checkKeys()

	// A list that does not decode takes its resource out of the results of every query; the others stay.
	r = create(2)
	kind, err := p.s.ResourceType(model.GenericType)
	p.must(err)
	all, err := filter.Compile(nil, filter.Scope{Type: kind})
	p.must(err)
	find := func(metrics bool, names ...string) int {
		found, err := p.s.FindResources(ctx, search.Query{Type: model.GenericType, Filter: all,
			Metrics: metrics, Names: names})
		p.must(err)
		return len(found)
	}
	before := find(false)
	value, err := p.s.log.Get(keyspace.IDKey(keyspace.Resource, r.ID))
	p.must(err)
	p.must(p.s.log.DB.Set(keyspace.IDKey(keyspace.Resource, r.ID), value[:len(value)-1], nil))
	if got := []int{find(false), find(true), find(true, "m0")}; !slices.Equal(got,
		[]int{before - 1, before - 1, before - 1}) {
		t.Errorf("%d resources found of %d, one of which is damaged", got, before)
	}
	p.must(p.s.Close())
}

// compareStates orders by ID, and the states of one from the oldest to the live one, whose revision is 0.
func compareStates(a, b *model.Resource) int {
	return cmp.Or(model.CompareIDs(a.ID, b.ID), cmp.Compare(a.Revision-1, b.Revision-1))
}
