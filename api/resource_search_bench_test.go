package api_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/model"
)

// fill creates resources of a type with three attributes, racks of 20 each.
func fill(t testing.TB, s *server, resources int) {
	t.Helper()
	s.create(t, "/v1/resource_type",
		`{"name":"host","attributes":{"rack":{"type":"string"},"cores":{"type":"number"},"image":{"type":"uuid"}}}`,
		"user", "admin")
	project := "p"
	for i := range resources {
		id := uuid.NewSHA1(uuid.Nil, fmt.Append(nil, i))
		check(t, s.options.Index.CreateResource(t.Context(), &model.Resource{
			ID: id, OriginalID: id.String(), Type: "host", Creator: "foobar", ProjectID: &project,
			StartedAt: 1e9, RevisionStart: 1e18 - 1,
			Attributes: model.Values{{Name: "cores", Value: float64(i % 64)}, {Name: "image", Value: id},
				{Name: "rack", Value: fmt.Sprint("r", i/20)}},
		}, nil))
	}
}

func BenchmarkSearchResources(b *testing.B) {
	resources := 100_000
	if testing.Short() || b.N == 0 {
		resources = 1000
	}
	s := newServer(b, nil)
	fill(b, s, resources)
	for _, c := range []struct{ name, request, body string }{
		{"by=id", "POST /v1/search/resource/host", `{"=":{"id":"` +
			uuid.NewSHA1(uuid.Nil, []byte("7")).String() + `"}}`},
		{"by=rack", "POST /v1/search/resource/host", `{"=":{"rack":"r7"}}`},
		{"by=like", "POST /v1/search/resource/host", `{"and":[{"like":{"rack":"%7"}},{">":{"cores":60}}]}`},
		{"by=nothing", "GET /v1/resource/host", ""},
		{"by=nothing/sort=id", "GET /v1/resource/generic?sort=id", ""},
	} {
		b.Run(fmt.Sprintf("%s/resources=%d", c.name, resources), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if w := s.call(b, c.request, c.body); w.Code != http.StatusOK || w.Body.Len() < 100 {
					b.Fatal(w.Code, w.Body)
				}
			}
		})
	}
}
