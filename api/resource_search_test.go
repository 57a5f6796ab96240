package api_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/gnocco-db/gnocco/api"
)

// hosts creates three resources of type host, and one generic; it returns their IDs by name.
func hosts(t *testing.T, s *server) map[string]string {
	t.Helper()
	s.create(t, "/v1/resource_type",
		`{"name":"host","attributes":{"rack":{"type":"string","required":false},"cores":{"type":"number","required":false}}}`, "user", "admin")
	ids := map[string]string{}
	add := func(kind, name, rest string) {
		ids[name] = s.create(t, "/v1/resource/"+kind, `{"id":"`+name+`","started_at":"2025-01-0`+
			fmt.Sprint(len(ids)+1)+`"`+rest+`}`)
	}
	add("host", "web1", `,"rack":"r1","cores":8,"project_id":"p1"`)
	add("host", "web2", `,"rack":"r2","cores":16,"project_id":"p2","ended_at":"2025-02-01"`)
	add("host", "db", ``)
	add("generic", "thing", `,"project_id":"p1"`)
	return ids
}

// names returns the original IDs in an answer.
func names(t *testing.T, w *httptest.ResponseRecorder) string {
	t.Helper()
	if w.Code != 200 {
		t.Fatalf("status %d: %s", w.Code, w.Body)
	}
	var list []struct {
		Name string `json:"original_resource_id"`
	}
	check(t, json.Unmarshal(w.Body.Bytes(), &list))
	var all []string
	for _, r := range list {
		all = append(all, r.Name)
	}
	return strings.Join(all, " ")
}

func TestSearchResources(t *testing.T) {
	s := newServer(t, nil)
	ids := hosts(t, s)
	f := func(kind, tree, text, want string) {
		t.Helper()
		if tree != "" {
			if got := names(t, s.call(t, "POST /v1/search/resource/"+kind, tree)); got != want {
				t.Errorf("%s: %s, want %s", tree, got, want)
			}
		}
		if text != "" {
			if got := names(t, s.call(t, "POST /v1/search/resource/"+kind+"?filter="+url.QueryEscape(text), "",
				"Content-Type", "")); got != want {
				t.Errorf("%s: %s, want %s", text, got, want)
			}
		}
	}
	f("generic", `{}`, "", "web1 web2 db thing")
	f("generic", "", `type = host`, "web1 web2 db")
	f("host", `{"=":{"rack":"r1"}}`, `rack = 'r1'`, "web1")
	f("host", `{"!=":{"rack":"r1"}}`, `rack != r1`, "web2 db")
	f("host", `{"and":[{"like":{"original_resource_id":"web%"}},{"not":{"<":{"cores":10}}}]}`,
		`original_resource_id like 'web%' and not cores < 10`, "web2")
	f("host", `{"in":{"id":["web1","db","thing"]}}`, `id in [web1, db, thing]`, "web1 db") // thing is no host
	f("generic", `{"in":{"id":["`+ids["web1"]+`"]}}`, `id = `+ids["web1"], "web1")
	f("generic", `{">":{"lifespan":"20 days"}}`, `lifespan > '20 days'`, "web2")
	f("generic", `{"=":{"creator":"foobar"}}`, `creator = foobar and created_by_project_id = ''`, "web1 web2 db thing")
	f("generic", `{"≥":{"started_at":"2025-01-03"}}`, `started_at ≥ '2025-01-03'`, "db thing")

	fault := func(request, body string, status int, want string) {
		t.Helper()
		s.want(t, request, body, status, "~"+want)
	}
	fault("POST /v1/search/resource/none", `{}`, 404, "Resource type none does not exist")
	fault("GET /v1/search/resource/none", ``, 404, "Resource type none does not exist")
	fault("GET /v1/search/resource/generic", ``, 405, "")
	fault("POST /v1/search/resource/generic", `{"=":{"rack":"r1"}}`, 400, "Resource type generic has no rack attribute")
	fault("POST /v1/search/resource/host", `{"=":{"cores":"many"}}`, 400, "Invalid value: `many' for field `cores'")
	fault("POST /v1/search/resource/host", `{"in":{"id":["a/b"]}}`, 400, "Invalid value")
	fault("POST /v1/search/resource/host", `[1]`, 400, "expected a dictionary")
	fault("POST /v1/search/resource/host", `{`, 400, "Unable to decode body")
	fault("POST /v1/search/resource/host?filter=rack", ``, 400,
		"Invalid filter: Expected a comparison, found end of text (at byte 4)")
	fault("POST /v1/search/resource/host?history=perhaps", ``, 400, "history")
	fault("POST /v1/search/resource/host?details=perhaps", ``, 400, "details")
	fault("POST /v1/search/resource/host?sort=none", ``, 400,
		"Invalid pagination: `Sort key supplied is invalid: none'")
	fault("POST /v1/search/resource/host?marker=none", ``, 400, "Invalid marker: `none'")
	fault("POST /v1/search/resource/host?history=true&marker="+ids["db"], ``, 400, "Invalid marker")
	fault("POST /v1/search/resource/host?marker="+ids["db"]+"@1", ``, 400, "Invalid marker")
	fault("POST /v1/search/resource/host?marker="+ids["thing"], ``, 400, "Invalid marker")
	fault("POST /v1/search/resource/host?limit=0", ``, 400, "value must be at least 1")
	s.want(t, "POST /v1/search/resource/host", `{}`, 415, "~", "Content-Type", "text/plain")
}

func TestListResources(t *testing.T) {
	s := newServer(t, nil)
	ids := hosts(t, s)
	pages := func(request, want string) {
		t.Helper()
		var got []string
		for range 20 {
			w := s.call(t, request, "")
			if page := names(t, w); page != "" {
				got = append(got, page)
			}
			link := w.Header().Get("Link")
			if link == "" {
				break
			}
			next, _, _ := strings.Cut(strings.TrimPrefix(link, "<http://example.com"), ">")
			method, _, _ := strings.Cut(request, " ")
			request = method + " " + next
		}
		if joined := strings.Join(got, "|"); joined != want {
			t.Errorf("%s: %s, want %s", request, joined, want)
		}
	}
	pages("GET /v1/resource/generic?limit=3", "web1 web2 db|thing")
	pages("GET /v1/resource/generic?limit=1&sort=started_at:desc", "thing|db|web2|web1")
	pages("GET /v1/resource/host?limit=2&sort=rack:desc-nullslast", "web2 web1|db")
	pages("GET /v1/resource/host?limit=2&sort=rack:asc-nullsfirst", "db web1|web2")
	pages("POST /v1/search/resource/host?limit=1&filter=cores+%3E+1&sort=cores:desc", "web2|web1")

	byID := slices.SortedFunc(maps.Keys(ids), func(a, b string) int { return strings.Compare(ids[a], ids[b]) })
	pages("GET /v1/resource/generic?limit=2&sort=id", byID[0]+" "+byID[1]+"|"+byID[2]+" "+byID[3])
	pages("GET /v1/resource/generic?limit=3&sort=id:asc&sort=type", byID[0]+" "+byID[1]+" "+byID[2]+"|"+byID[3])
	pages("GET /v1/resource/generic?limit=3&sort=id:desc", byID[3]+" "+byID[2]+" "+byID[1]+"|"+byID[0])

	s.want(t, "PATCH /v1/resource/host/db", `{"rack":"r9"}`, 200, "~r9")
	s.want(t, "PATCH /v1/resource/host/db", `{"rack":"r8"}`, 200, "~r8")
	pages("GET /v1/resource/host?history=true&limit=2&sort=started_at:desc", "db db|db web2|web1")
	pages("POST /v1/search/resource/host?history=true&limit=1&sort=revision&filter=revision_end+!%3D+null", "db|db")
	pages("POST /v1/search/resource/host?history=true&filter=id+%3D+db+and+rack+%3D+r9", "db")
	pages("POST /v1/search/resource/host?history=true&filter=rack+%3D+r9", "db")

	// The attributes of a type are shown to a client that asks for the type, or for details.
	keys := func(request string, want ...string) {
		t.Helper()
		var list []map[string]any
		check(t, json.Unmarshal(s.want(t, request, "", 200, "~").Body.Bytes(), &list))
		for _, r := range list {
			if r["original_resource_id"] != "web1" && len(list) > 1 {
				continue
			}
			for _, key := range []string{"rack", "cores", "metrics", "user_id"} {
				if _, ok := r[key]; ok != slices.Contains(want, key) {
					t.Errorf("%s: %s is shown: %v", request, key, ok)
				}
			}
		}
	}
	keys("GET /v1/resource/generic", "metrics", "user_id")
	keys("GET /v1/resource/generic?details=true", "rack", "cores", "metrics", "user_id")
	keys("GET /v1/resource/host", "rack", "cores", "metrics", "user_id")
	keys("GET /v1/resource/host?attrs=rack&attrs=original_resource_id&attrs=none", "rack")
	keys("POST /v1/search/resource/host?attrs=metrics&attrs=original_resource_id", "metrics")
	s.want(t, "GET /v1/resource/host?attrs=id&limit=1", "", 200, `[{"id": "`+ids["web1"]+`"}]`)
}

func TestDeleteResources(t *testing.T) {
	s := newServer(t, func(o *api.Options) { o.MaxLimit = 100 })
	hosts(t, s)
	s.create(t, "/v1/resource/host", `{"id":"mine","rack":"r1"}`, "user", "jd")
	s.want(t, "DELETE /v1/resource/host", "", 400, "~the query can not be empty", "Content-Type", "")
	s.want(t, "DELETE /v1/resource/host", "{}", 400, "~the query can not be empty")
	s.want(t, "DELETE /v1/resource/host?filter=none+%3D+1", "", 400, "~has no none attribute")
	s.want(t, "DELETE /v1/resource/none?filter=none+%3D+1", "", 404, "~Resource type none")
	// jd's is not foobar's to delete
	s.want(t, "DELETE /v1/resource/host?filter=rack+%3D+r1", "", 200, `{"deleted": 1}`)
	s.want(t, "DELETE /v1/resource/host", `{"=":{"rack":"r1"}}`, 200, `{"deleted": 0}`)
	s.want(t, "DELETE /v1/resource/generic", `{"=":{"type":"host"}}`, 200, `{"deleted": 3}`, "user", "admin")
	if left := names(t, s.call(t, "GET /v1/resource/generic", "")); left != "thing" {
		t.Errorf("%s is left", left)
	}
	s.want(t, "DELETE /v1/resource_type/host", "", 204, "", "user", "admin") // nothing of it is left behind
}
