package filter_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/model/filter"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

var (
	idA   = uuid.MustParse("00000000-0000-0000-0000-00000000000a")
	idB   = uuid.MustParse("00000000-0000-0000-0000-00000000000b")
	idC   = uuid.MustParse("00000000-0000-0000-0000-00000000000c")
	image = uuid.MustParse("faef212f-0bf4-4030-a461-2186fef79be0")
	hour  = carbonara.Timestamp(time.Hour)
	now   = carbonara.Timestamp(1_000_000) * carbonara.Timestamp(time.Second)
)

// server is a resource type with an attribute of each kind.
func server(t testing.TB) *model.ResourceType {
	t.Helper()
	server, err := model.NewResourceType("server", []*model.Attribute{
		{Name: "host", Kind: model.KindString, MaxLength: 255},
		{Name: "image", Kind: model.KindUUID},
		{Name: "cores", Kind: model.KindNumber},
		{Name: "on", Kind: model.KindBool},
		{Name: "bought", Kind: model.KindDatetime},
	})
	fatal.If(t, err)
	return server
}

func ptr[T any](v T) *T { return &v }

// resources are A, which has all there is, B, which has other values, and C, which has nothing.
func resources() []*model.Resource {
	return []*model.Resource{
		{ID: idA, OriginalID: "a", Type: "server", Creator: "u1:p1", UserID: ptr("user"), ProjectID: ptr("project"),
			StartedAt: hour + 1500, EndedAt: ptr(3 * hour), RevisionStart: hour, Attributes: model.Values{
				{Name: "bought", Value: 2*hour + 700}, {Name: "cores", Value: 8.0}, {Name: "host", Value: "web_1"},
				{Name: "image", Value: image}, {Name: "on", Value: true}}},
		{ID: idB, OriginalID: "b", Type: "server", Creator: "u2:p1", StartedAt: 2 * hour, EndedAt: ptr(8 * hour),
			RevisionStart: 2 * hour, Attributes: model.Values{
				{Name: "bought", Value: 5 * hour}, {Name: "cores", Value: 64.0}, {Name: "host", Value: "webX1"},
				{Name: "image", Value: idB}, {Name: "on", Value: false}}},
		{ID: idC, OriginalID: "c", Type: "server", Creator: "u3", StartedAt: now - hour, RevisionStart: 3 * hour,
			Attributes: model.Values{
				{Name: "bought"}, {Name: "cores"}, {Name: "host"}, {Name: "image"}, {Name: "on"}}},
	}
}

func parse(tree string) (*filter.Expr, error) {
	decoder := json.NewDecoder(strings.NewReader(tree))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		return nil, err
	}
	return filter.ParseTree(value)
}

// find returns the names of the resources that an expression finds.
func find(t testing.TB, e *filter.Expr) string {
	t.Helper()
	f, err := filter.Compile(e, filter.Scope{Type: server(t), Creator: "u1:p1", Now: now})
	fatal.If(t, err)
	found := ""
	for _, r := range resources() {
		if f.Matches(r) {
			found += r.OriginalID
		}
	}
	if ids, ok := f.IDs(); ok {
		for _, r := range resources() {
			named := false
			for _, id := range ids {
				named = named || id == r.ID
			}
			if f.Matches(r) && !named {
				t.Fatalf("%s matches, but IDs does not name it", r.ID)
			}
		}
	}
	return found
}

func TestTree(t *testing.T) {
	f := func(tree, want string) {
		t.Helper()
		e, err := parse(tree)
		if err != nil {
			t.Fatalf("%s: %v", tree, err)
		}
		if got := find(t, e); got != want {
			t.Errorf("%s finds %q, want %q", tree, got, want)
		}
	}
	f(`{}`, "abc")
	f(`{"=": {"host": "web_1"}}`, "a")
	f(`{"eq": {"host": "web_1"}}`, "a")
	f(`{"==": {"host": null}}`, "c")
	f(`{"!=": {"host": null}}`, "ab")
	f(`{"!=": {"host": "web_1"}}`, "bc")
	f(`{"not": {"=": {"host": "web_1"}}}`, "b")  // a null is neither equal nor not
	f(`{"not": {"!=": {"host": "web_1"}}}`, "a") // but it differs
	f(`{"not": {"not": {"=": {"host": "web_1"}}}}`, "a")
	f(`{"or": [{"=": {"host": "x"}}, {"=": {"type": "server"}}]}`, "abc")
	f(`{"and": [{"=": {"host": "web_1"}}, {"<": {"cores": 9}}]}`, "a")
	// unknown and false is false, and true unknown
	f(`{"not": {"and": [{"=": {"host": "web_1"}}, {"=": {"creator": "u3"}}]}}`, "ab")
	f(`{"∨": [{"≥": {"cores": 64}}, {"∧": [{"≤": {"cores": "8"}}, {"≠": {"on": false}}]}]}`, "ab")
	f(`{"like": {"host": "web\\_%"}}`, "a")
	f(`{"like": {"host": "web_1"}}`, "ab")
	f(`{"like": {"host": "%1"}}`, "ab")
	f(`{"like": {"host": "WEB%"}}`, "")
	f(`{"in": {"host": ["web_1", "webX1"]}}`, "ab")
	f(`{"not": {"in": {"host": ["web_1"]}}}`, "b")
	f(`{"not": {"in": {"host": ["web_1", null]}}}`, "") // the null may be anything
	f(`{"in": {"cores": [8, "64"]}}`, "ab")
	f(`{"in": {"image": ["FAEF212F-0BF4-4030-A461-2186FEF79BE0"]}}`, "a")
	f(`{"=": {"image": "faef212f0bf44030a4612186fef79be0"}}`, "a")
	f(`{"=": {"on": true}}`, "a")
	f(`{"<": {"on": true}}`, "b")
	f(`{"=": {"id": "00000000-0000-0000-0000-00000000000B"}}`, "b")
	f(`{"=": {"id": "some text"}}`, "")
	f(
		`{"and": [{"in": {"id": ["00000000-0000-0000-0000-00000000000a", "00000000-0000-0000-0000-00000000000b"]}}, {"=": {"on": false}}]}`, "b")
	f(`{"or": [{"=": {"id": "00000000-0000-0000-0000-00000000000a"}}, {"=": {"on": false}}]}`, "ab")
	f(`{"=": {"started_at": "1970-01-01T01:00:00.000001"}}`, "a") // it has 500 ns more, which nobody sees
	f(`{"=": {"bought": "1970-01-01T02:00:00"}}`, "a")
	f(`{">=": {"started_at": "-2 hours"}}`, "c")
	f(`{"<": {"started_at": 7200}}`, "a")
	f(`{"=": {"ended_at": null}}`, "c")
	f(`{">": {"lifespan": "3 hours"}}`, "b")
	f(`{"<=": {"lifespan": 10800}}`, "a")
	f(`{"=": {"created_by_user_id": "u3"}}`, "c")
	f(`{"=": {"created_by_project_id": "p1"}}`, "ab")
	f(`{"!=": {"created_by_project_id": "p1"}}`, "c")
	f(`{"like": {"created_by_user_id": "u_"}}`, "abc")
	f(`{"=": {"original_resource_id": "b"}}`, "b")
	f(`{"<": {"host": "web_"}}`, "b")
}

func TestTreeFault(t *testing.T) {
	f := func(tree, want string) {
		t.Helper()
		e, err := parse(tree)
		if err == nil {
			_, err = filter.Compile(e, filter.Scope{Type: server(t), Now: now})
		}
		if err == nil {
			t.Fatalf("%s is accepted", tree)
		}
		var fault *filter.TreeError
		if !errors.As(err, &fault) && !errors.Is(err, model.ErrInvalid) {
			t.Fatalf("%s: %v is of no kind", tree, err)
		}
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %q, want %q", tree, err, want)
		}
	}
	f(`[]`, "expected a dictionary @ data[]")
	f(`{"=": {}}`, "length of value must be at least 1 @ data[=]")
	f(`{"=": {"a": 1, "b": 2}}`, "length of value must be at most 1 @ data[=]")
	f(`{"and": {"project_id": "foobar"}}`, "expected a list @ data[and]")
	f(`{"and": []}`, "length of value must be at least 1 @ data[and]")
	f(`{"and": [{}]}`, "length of value must be at least 1 @ data[and 0]")
	f(`{"or": [{"=": {"host": "a"}}, {"~": {"host": "a"}}]}`, "extra keys not allowed @ data[or 1 ~]")
	f(`{"like": {"id": "fa%"}}`, "value must not be one of ['id'] @ data[like id]")
	f(`{"ne": {"project_id": ["foobar"]}}`, "expected str @ data[ne project_id]")
	f(`{"in": {"id": []}}`, "length of value must be at least 1 @ data[in id]")
	f(`{"in": {"host": ["a", {}]}}`, "expected str @ data[in host 1]")
	f(`{"not": [{"project_id": "foobar"}]}`, "expected a dictionary @ data[not]")
	f(`{"=": {"flavor": "x"}}`, "Resource type server has no flavor attribute")
	f(`{"=": {"revision": 1}}`, "Resource type server has no revision attribute")
	f(`{"=": {"metrics": "x"}}`, "Resource type server has no metrics attribute")
	f(`{"=": {"cores": "many"}}`, "Invalid value: `many' for field `cores'")
	f(`{"=": {"cores": "nan"}}`, "Invalid value: `nan' for field `cores'")
	f(`{"=": {"on": "perhaps"}}`, "Invalid value: `perhaps' for field `on'")
	f(`{"=": {"image": "x"}}`, "Invalid value: `x' for field `image'")
	f(`{"=": {"image": true}}`, "Invalid value: `True' for field `image'")
	f(`{"=": {"id": "a/b"}}`, "Invalid value: `a/b' for field `id'")
	f(`{">": {"started_at": "soon"}}`, "Invalid value: `soon' for field `started_at'")
	f(`{">": {"started_at": null}}`, "Invalid value: `None' for field `started_at'")
	f(`{"like": {"cores": "1%"}}`, "Invalid value: `1%' for field `cores'")
	f(`{"like": {"host": null}}`, "Invalid value: `None' for field `host'")
	f(`{"in": {"lifespan": [1]}}`, "Invalid value: `1' for field `lifespan'")
	f(`{">": {"lifespan": -1}}`, "Invalid value: `-1' for field `lifespan'")
	f(`{"<": {"created_by_user_id": "u"}}`, "Invalid value: `u' for field `created_by_user_id'")
	f(strings.Repeat(`{"not":`, 500)+`{"=":{"host":"a"}}`+strings.Repeat(`}`, 500), "nested too deep")
}

func TestText(t *testing.T) {
	f := func(text, tree string) {
		t.Helper()
		e, err := filter.ParseText(text)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		other, err := parse(tree)
		fatal.If(t, err)
		if got, want := filter.Describe(e), filter.Describe(other); got != want {
			t.Errorf("%s is %s, want %s", text, got, want)
		}
	}
	f(`a=1`, `{"=": {"a": 1}}`)
	f(`a eq 'x'`, `{"=": {"a": "x"}}`)
	f(`a = x`, `{"=": {"a": "x"}}`)
	f(`a = null`, `{"=": {"a": null}}`)
	f(`a != None`, `{"!=": {"a": null}}`)
	f(`a = True`, `{"=": {"a": true}}`)
	f(`a = false`, `{"=": {"a": false}}`)
	f(`nullable = nullable`, `{"=": {"nullable": "nullable"}}`)
	f(`noteq = android`, `{"=": {"noteq": "android"}}`)
	f(`a >= -2`, `{">=": {"a": -2}}`)
	f(`a ≤ 1.5e3`, `{"<=": {"a": 1.5e3}}`)
	f(`a ne "it's"`, `{"!=": {"a": "it's"}}`)
	f(`a = ''`, `{"=": {"a": ""}}`)
	f(`a like 'x%'`, `{"like": {"a": "x%"}}`)
	f(`id in [faef212f-0bf4-4030-a461-2186fef79be0, df7e5e756a1d4ff785cb38eb9d75da7e]`,
		`{"in": {"id": ["faef212f-0bf4-4030-a461-2186fef79be0", "df7e5e756a1d4ff785cb38eb9d75da7e"]}}`)
	f(`a in [1, 'x', null]`, `{"in": {"a": [1, "x", null]}}`)
	f(`not a=1 and b=2`, `{"and": [{"not": {"=": {"a": 1}}}, {"=": {"b": 2}}]}`)
	f(`not (a=1 and b=2)`, `{"not": {"and": [{"=": {"a": 1}}, {"=": {"b": 2}}]}}`)
	f(`not not a=1`, `{"not": {"not": {"=": {"a": 1}}}}`)
	f(`a=1 or b=2 and c=3`, `{"or": [{"=": {"a": 1}}, {"and": [{"=": {"b": 2}}, {"=": {"c": 3}}]}]}`)
	f(`a=1 and b=2 or c=3`, `{"or": [{"and": [{"=": {"a": 1}}, {"=": {"b": 2}}]}, {"=": {"c": 3}}]}`)
	f(`(a=1 ∨ b=2) ∧ c=3`, `{"and": [{"or": [{"=": {"a": 1}}, {"=": {"b": 2}}]}, {"=": {"c": 3}}]}`)
	f("\ta>1\n and a<2 ", `{"and": [{">": {"a": 1}}, {"<": {"a": 2}}]}`)
}

func TestTextFault(t *testing.T) {
	f := func(text, want string) {
		t.Helper()
		_, err := filter.ParseText(text)
		if err == nil {
			t.Fatalf("%s is accepted", text)
		}
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %q, want %q", text, err, want)
		}
	}
	f(``, "Invalid filter: Expected a field, found end of text (at byte 0)")
	f(`id == foobar`, "Invalid filter: Expected a value, found '='")
	f(`a and b`, "Expected a comparison, found 'and'")
	f(`a=1 b=2`, "Expected end of text, found 'b'")
	f(`a=1x`, "Expected a value, found '1x'")
	f(`a='x`, "Expected a value, found ''x'")
	f(`12 = a`, "Expected a field, found '12'")
	f(`a = [1]`, "Expected a value, found '['")
	f(`a in 1`, "Expected '[', found '1'")
	f(`a in []`, "length of value must be at least 1")
	f(`a in [1`, "Expected ',' or ']', found end of text")
	f(`a in [[1]]`, "Expected a value, found '['")
	f(`(a=1`, "Expected ')', found end of text")
	f(`id like 'x%'`, "value must not be one of")
	f(strings.Repeat("(", 1e5), "nested too deep")
	f(strings.Repeat("not ", 1e5), "nested too deep")
	f("a = \xff", "Expected a value")
}

func TestOrder(t *testing.T) {
	f := func(want string, keys ...string) {
		t.Helper()
		order, err := filter.ParseOrder(keys, filter.Scope{Type: server(t)})
		fatal.If(t, err)
		var after *model.Resource
		got := ""
		for range resources() { // page by page, of one each
			page := filter.NewPage(order.Compare, 1, after)
			for _, r := range resources() {
				page.Add(r)
			}
			after = page.Items()[0]
			got += after.OriginalID
		}
		if got != want {
			t.Errorf("by %q: %s, want %s", keys, got, want)
		}
		sorted, got := resources(), ""
		order.Sort(sorted)
		for _, r := range sorted {
			got += r.OriginalID
		}
		if got != want {
			t.Errorf("sorted by %q: %s, want %s", keys, got, want)
		}
		for i := range sorted {
			for j := range sorted {
				if order.SameTexts(sorted[i], sorted[j]) && i != j && len(keys) > 0 {
					t.Errorf("%q: %s and %s have the same texts", keys, sorted[i].OriginalID, sorted[j].OriginalID)
				}
			}
		}
	}
	f("abc")
	f("abc", filter.DefaultOrder...)
	f("cba", "id:desc")
	f("abc", "cores")
	f("cba", "cores:desc")
	f("bac", "cores:desc-nullslast")
	f("cab", "cores:asc-nullsfirst")
	f("cba", "type", " started_at:desc")
	f("bac", "on")
	f("cab", "ended_at:asc-nullsfirst")

	for _, key := range []string{"x", "id:up", "id:asc-nulls", "lifespan", "metrics", "revision"} {
		var fault *model.FieldError
		if _, err := filter.ParseOrder([]string{key}, filter.Scope{Type: server(t)}); !errors.As(err, &fault) ||
			fault.Field != "sort" {
			t.Errorf("%s: %v", key, err)
		}
	}
}

func TestHistory(t *testing.T) {
	past := &model.Resource{ID: idA, OriginalID: "past", Type: "server", Revision: 1, RevisionEnd: ptr(hour)}
	live := &model.Resource{ID: idA, OriginalID: "live", Type: "server"}
	scope := filter.Scope{Type: server(t), History: true}
	e, err := filter.ParseText("revision = -1 and revision_end = null")
	fatal.If(t, err)
	f, err := filter.Compile(e, scope)
	fatal.If(t, err)
	if f.Matches(past) || !f.Matches(live) {
		t.Error("not the live state, and that alone")
	}
	order, err := filter.ParseOrder([]string{"revision_end:asc-nullslast"}, scope)
	fatal.If(t, err)
	if order.Compare(past, live) >= 0 {
		t.Error("the live state is not the last")
	}
}

// FuzzText parses or refuses any text, evaluates the expressions, and compares each with twice "not" of itself.
func FuzzText(f *testing.F) {
	for _, text := range []string{"a=1", "not (host like 'x%' or cores in [1,2,null]) and lifespan > '1h'", "id == x",
		"a ∧ ≥ [", "'"} {
		f.Add(text)
	}
	serverType := server(f)
	f.Fuzz(func(t *testing.T, text string) {
		e, err := filter.ParseText(text)
		if err != nil {
			return
		}
		compiled, err := filter.Compile(e, filter.Scope{Type: serverType, Now: now, Creator: "u"})
		if err != nil {
			return
		}
		nots, err := filter.ParseText("not not (" + text + ")")
		if err != nil {
			return // now nested too deep
		}
		twice, err := filter.Compile(nots, filter.Scope{Type: serverType, Now: now, Creator: "u"})
		fatal.If(t, err)
		for _, r := range resources() {
			if compiled.Matches(r) != twice.Matches(r) {
				t.Fatalf("%s: not not differs", text)
			}
		}
	})
}

// FuzzTree is FuzzText for trees.
func FuzzTree(f *testing.F) {
	f.Add([]byte(`{"and": [{"=": {"host": "x"}}, {"not": {"in": {"cores": [1, null]}}}]}`))
	f.Add([]byte(`{"like": {"host": "\\%_"}}`))
	serverType := server(f)
	f.Fuzz(func(t *testing.T, body []byte) {
		decoder := json.NewDecoder(bytes.NewReader(body))
		decoder.UseNumber()
		var value any
		if decoder.Decode(&value) != nil {
			return
		}
		e, err := filter.ParseTree(value)
		if err != nil {
			return
		}
		compiled, err := filter.Compile(e, filter.Scope{Type: serverType, Now: now, Creator: "u"})
		if err != nil {
			return
		}
		for _, r := range resources() {
			compiled.Matches(r)
		}
	})
}
