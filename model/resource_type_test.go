package model_test

import (
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

func text(name string) *model.Attribute {
	return &model.Attribute{Name: name, Kind: model.KindString, MaxLength: 255}
}

func TestAttributeNames(t *testing.T) {
	f := func(name string, ok bool) {
		t.Helper()
		_, err := model.NewResourceType("t", []*model.Attribute{text(name)})
		if (err == nil) != ok || err != nil && !errors.Is(err, model.ErrInvalid) {
			t.Errorf("%q: %v", name, err)
		}
	}
	f("host", true)
	f("0", true)
	f("new-optional-int", true) // Gnocchi looks at the first character only
	f("ü", false)
	f("_host", false)
	f("", false)
	f("a\x00", false)
	f("a\xff", false)
	f(strings.Repeat("a", 63), true)
	f(strings.Repeat("a", 64), false)
	for _, name := range []string{"id", "type", "metrics", "revision", "revision_start", "revision_end",
		"started_at", "ended_at", "user_id", "project_id", "creator", "created_by_user_id",
		"created_by_project_id", "get_metric",
		"original_resource_id"} {
		f(name, false)
	}
}

func TestResourceTypeRefuses(t *testing.T) {
	f := func(reason string, attributes ...*model.Attribute) {
		t.Helper()
		if _, err := model.NewResourceType("t", attributes); err == nil || !strings.Contains(err.Error(), reason) {
			t.Errorf("error %v, want %s", err, reason)
		}
	}
	low, high := 1.5, 8.0
	f("min_length) 5 must be less", &model.Attribute{Name: "a", Kind: model.KindString, MinLength: 5, MaxLength: 2})
	f("min_length) 8 must be less", &model.Attribute{Name: "a", Kind: model.KindNumber, Min: &high, Max: &low})
	f("given twice", text("a"), text("a"))
	f("has no type", &model.Attribute{Name: "a"})
	if _, err := model.NewResourceType("", nil); err == nil {
		t.Error("a type without a name")
	}
}

func TestKindHolds(t *testing.T) {
	values := map[model.AttributeKind]any{model.KindString: "", model.KindUUID: uuid.Nil, model.KindNumber: 0.0,
		model.KindBool: false, model.KindDatetime: carbonara.Timestamp(0)}
	for kind := range values {
		for of, value := range values {
			if kind.Holds(value) != (kind == of) {
				t.Errorf("%s holds a %s: %t", kind, of, kind.Holds(value))
			}
		}
		if kind.Holds(nil) || kind.Holds(1) || kind.Holds(math.NaN()) || kind.Holds(math.Inf(1)) ||
			kind.Holds(carbonara.Timestamp(-1)) {
			t.Errorf("%s holds what no kind does", kind)
		}
		if parsed, ok := model.ParseAttributeKind(kind.String()); !ok || parsed != kind {
			t.Errorf("%s is parsed as %s", kind, parsed)
		}
	}
	if _, ok := model.ParseAttributeKind(""); ok {
		t.Error("an attribute of no kind")
	}
}

// An update that changes nothing returns the type itself; one that does leaves it alone.
func TestResourceTypeUpdate(t *testing.T) {
	old, err := model.NewResourceType("t", []*model.Attribute{text("a"), text("b")})
	fatal.If(t, err)
	if same, err := old.Update([]*model.Attribute{text("b"), text("a")}); err != nil || same != old {
		t.Errorf("%v, %v", same, err)
	}
	shorter := text("b")
	shorter.MaxLength = 9
	updated, err := old.Update([]*model.Attribute{shorter, text("c")})
	fatal.If(t, err)
	before, after := show(t, old), show(t, updated)
	if want :=
		`{"name":"t","attributes":{"a":{"max_length":255,"min_length":0,"required":false,"type":"string"},"b":{"max_length":255,"min_length":0,"required":false,"type":"string"}},"state":"active"}`; before != want {
		t.Errorf("before: %s", before)
	}
	if want :=
		`{"name":"t","attributes":{"b":{"max_length":9,"min_length":0,"required":false,"type":"string"},"c":{"max_length":255,"min_length":0,"required":false,"type":"string"}},"state":"active"}`; after != want {
		t.Errorf("after: %s", after)
	}
	if updated.Attribute("b").CurrentEra() != old.Attribute("b").CurrentEra() ||
		updated.Attribute("c").CurrentEra() != 3 {
		t.Error("eras are mixed up")
	}
}

func show(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	fatal.If(t, err)
	return string(text)
}

func TestResolve(t *testing.T) {
	a := &model.Attribute{Eras: []model.Era{{ID: 3}, {ID: 5, Fill: "five"}, {ID: 9, Fill: "nine"}}}
	f := func(want any, stored ...model.EraValue) {
		t.Helper()
		if got := a.Resolve(stored); got != want {
			t.Errorf("got %v, want %v", got, want)
		}
	}
	f("five") // from before the attribute
	f("five", model.EraValue{Era: 4, Value: "another's"})
	f("x", model.EraValue{Era: 3, Value: "x"})
	f("five", model.EraValue{Era: 3})
	f("nine", model.EraValue{Era: 5})
	f(nil, model.EraValue{Era: 9})
}
