package api_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/gnocco-db/gnocco/api"
	"github.com/gnocco-db/gnocco/api/auth"
	"github.com/gnocco-db/gnocco/model"
)

// A board is seen by its owner, and within the project once it is shared. Its owner changes it, and so does an
// administrator who sees it.
func TestBoards(t *testing.T) {
	s := newServer(t, func(o *api.Options) { o.Auth = auth.TrustedHeaders{} })
	carla, mark := trusted("carla", "web", "member"), trusted("mark", "web", "member")
	olga, root := trusted("olga", "shop", "member"), trusted("root", "web", "admin")
	const panels = `"panels":[{"title":"Up","view":"explore?q=up"},{"title":"Host","view":"metric?id=1"}]`
	id := s.create(t, "/v1/boards", `{"name":"Mine",`+panels+`}`, carla...)
	list := func(want string, who []string) {
		t.Helper()
		var boards []model.Board
		check(t, json.Unmarshal(s.want(t, "GET /v1/boards", "", 200, "~", who...).Body.Bytes(), &boards))
		var got []string
		for _, b := range boards {
			got = append(got, fmt.Sprintf("%s of %s, %d", b.Name, b.Owner, len(b.Panels)))
		}
		if fmt.Sprint(got) != "["+want+"]" {
			t.Errorf("boards %q, want %s", got, want)
		}
	}
	board := "/v1/boards/" + id
	list("Mine of carla:web, 2", carla)
	for _, who := range [][]string{mark, olga, root} {
		list("", who)
		s.want(t, "GET "+board, "", 404, "~does not exist", who...)
		s.want(t, "PUT "+board, `{"name":"a",`+panels+`}`, 404, "~", who...)
		s.want(t, "DELETE "+board, "", 404, "~", who...)
	}
	s.want(t, "PUT "+board, `{"name":"Ours","shared":true,"panels":[{"title":"Up","view":"explore?q=up"}]}`, 200,
		`~"owner": "carla:web"`, carla...)
	list("Ours of carla:web, 1", mark)
	list("", olga)
	s.want(t, "GET "+board, "", 404, "~", olga...)
	s.want(t, "PUT "+board, `{"name":"a",`+panels+`}`, 403, "~", mark...)
	s.want(t, "DELETE "+board, "", 403, "~", mark...)
	s.want(t, "PUT "+board, `{"name":"Theirs","shared":true,`+panels+`}`, 200, `~"owner": "carla:web"`, root...)

	for i := range 8 { // a page has 7
		s.create(t, "/v1/boards", fmt.Sprintf(`{"name":"b%d","panels":[{"title":"a","view":"explore"}]}`, i), mark...)
	}
	next := s.want(t, "GET /v1/boards", "", 200, `~"b5"`, mark...).Header().Get("Link")
	_, next, _ = strings.Cut(next, "/v1/boards?")
	next, _, _ = strings.Cut(next, ">")
	if w := s.want(t, "GET /v1/boards?"+next, "", 200, `~"b6"`, mark...); strings.Contains(w.Body.String(), `"b5"`) {
		t.Errorf("the second page: %s", w.Body)
	}
	s.want(t, "DELETE "+board, "", 204, "", carla...)
	s.want(t, "GET "+board, "", 404, "~", carla...)
}
