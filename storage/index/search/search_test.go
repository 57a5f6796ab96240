package search_test

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/model/filter"
	"github.com/gnocco-db/gnocco/storage/index"
	"github.com/gnocco-db/gnocco/storage/index/keyspace"
	"github.com/gnocco-db/gnocco/storage/index/search"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

// Every way of a search, with any limit to the resources that it reads, finds the same as a look at every resource. A
// page begins behind the last resource of the page before.
func TestEveryWayFindsTheSame(t *testing.T) {
	ctx, before := context.Background(), keyspace.DefaultCosts
	defer func() { keyspace.DefaultCosts = before }()
	kind, err := model.NewResourceType("server", []*model.Attribute{
		{Name: "host", Kind: model.KindString, MaxLength: 255}, {Name: "memory", Kind: model.KindNumber}})
	fatal.If(t, err)
	rng, clock := rand.New(rand.NewPCG(1, 2)), carbonara.Timestamp(1e15)
	fs := vfs.NewMem()
	open := func() *index.Store {
		s, err := index.Open("index", index.Options{FS: fs})
		fatal.If(t, err)
		return s
	}
	s := open()
	fatal.If(t, s.CreateResourceType(ctx, kind))
	var resources []*model.Resource
	for i := range 300 {
		clock += carbonara.Timestamp(rng.IntN(3)) * 1e9
		r := &model.Resource{ID: uuid.UUID{0: byte(rng.IntN(256)), 15: byte(i), 14: byte(i >> 8)}, Creator: "c", StartedAt: clock,
			RevisionStart: clock, Type: model.GenericType}
		if rng.IntN(3) > 0 {
			r.Type = "server"
			r.Attributes = model.Values{{Name: "host", Value: fmt.Sprint("h", rng.IntN(20))}, {Name: "memory"}}
			if rng.IntN(4) > 0 {
				r.Attributes[1].Value = float64(rng.IntN(5))
			}
		}
		if project := fmt.Sprint("p", rng.IntN(7)); rng.IntN(5) > 0 {
			r.ProjectID = &project
		}
		resources = append(resources, r)
		fatal.If(t, s.CreateResource(ctx, r, nil))
	}
	fatal.If(t, s.Close())
	filters := map[string][]string{
		model.GenericType: {`project_id = "p3"`, `project_id like "p%" and started_at > "1970-01-12T13:50:00"`, `creator = "c"`,
			`not (project_id = "p1")`, `project_id in ["p1", "p2"] or project_id = "p6"`},
		"server": {`host = "h7"`, `memory >= 2 and host like "h1%"`, `memory = 1 or memory = 3`, `host != "h1"`},
	}
	orders := [][]string{nil, {"id:desc"}, {"started_at:asc"}, {"revision_start:desc", "started_at:desc"},
		{"project_id:asc-nullslast"}, {"project_id:desc", "started_at:asc"}}
	for range 30 {
		keyspace.DefaultCosts = keyspace.Costs{FewCandidates: rng.IntN(100), StreamedRows: rng.IntN(400),
			ScansPerRead: 1 + rng.IntN(10)}
		s := open()
		for name, texts := range filters {
			scope := filter.Scope{Type: kind}
			if name == model.GenericType {
				if scope.Type, err = s.ResourceType(name); err != nil {
					t.Fatal(err)
				}
			}
			expr, err := filter.ParseText(texts[rng.IntN(len(texts))])
			fatal.If(t, err)
			compiled, err := filter.Compile(expr, scope)
			fatal.If(t, err)
			order, err := filter.ParseOrder(orders[rng.IntN(len(orders))], scope)
			fatal.If(t, err)
			compare := func(a, b *model.Resource) int {
				if order == nil {
					return model.CompareIDs(a.ID, b.ID)
				}
				return cmp.Or(order.Compare(a, b), model.CompareIDs(a.ID, b.ID))
			}
			var want, got []uuid.UUID
			var all []*model.Resource
			for _, r := range resources {
				if (name == model.GenericType || r.Type == name) && compiled.Matches(r) {
					all = append(all, r)
				}
			}
			slices.SortFunc(all, compare)
			for _, r := range all {
				want = append(want, r.ID)
			}
			q := search.Query{Type: name, Filter: compiled, Order: order, Limit: 1 + rng.IntN(60)}
			for {
				page, err := s.FindResources(ctx, q)
				fatal.If(t, err)
				for _, r := range page {
					got = append(got, r.ID)
				}
				if len(page) < q.Limit {
					break
				}
				q.After = page[len(page)-1]
			}
			if !slices.Equal(got, want) {
				t.Fatalf("%+v, %s, pages of %d: found %d, want %d:\n%v\n%v", keyspace.DefaultCosts, name, q.Limit, len(got),
					len(want), got, want)
			}
			if q.Limit, q.After = 0, nil; len(want) > 0 {
				found, err := s.FindResources(ctx, q)
				if err != nil || len(found) != len(want) || found[0].ID != want[0] {
					t.Errorf("without a limit %d are found, want %d: %v", len(found), len(want), err)
				}
			}
		}
		fatal.If(t, s.Close())
	}
}
