package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"testing"

	"github.com/gnocco-db/gnocco/api/text"
	"github.com/gnocco-db/gnocco/api/web"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

// Each patch is refused with a 4xx, or leaves a type whose own document makes the same type.
func FuzzPatch(f *testing.F) {
	for _, seed := range []string{
		`[{"op":"add","path":"/attributes/b","value":{"type":"number","required":true,"min":1,"options":{"fill":2}}}]`,
		`[{"op":"remove","path":"/attributes/a"},{"op":"add","path":"/attributes/c","value":{"type":"datetime","options":{"fill":5}}}]`,
		`[{"op":"add","path":"/attributes/a","value":{"type":"string","required":false,"max_length":9}}]`,
		`[{"op":"add","path":"/attributes/a/options","value":{"fill":"x"}},{"op":"remove","path":"/attributes/a/max_length"}]`,
		`[{"op":"remove","path":"/attributes"}]`,
		`[{"op":"add","path":"/attributes","value":{"x~1":{"type":"uuid","required":false}}}]`,
	} {
		f.Add([]byte(seed))
	}
	old, err := model.NewResourceType("t", []*model.Attribute{{Name: "a", Kind: model.KindString, MaxLength: 20}})
	fatal.If(f, err)
	before := string(text.AppendJSON(nil, old))
	f.Fuzz(func(t *testing.T, body []byte) {
		var value any
		decoder := json.NewDecoder(bytes.NewReader(body))
		decoder.UseNumber()
		if decoder.Decode(&value) != nil {
			return
		}
		updated, err := patchResourceType(old, value)
		if string(text.AppendJSON(nil, old)) != before {
			t.Fatalf("%s changes the old type to %s", body, text.AppendJSON(nil, old))
		}
		if err != nil {
			var known *web.Error
			if !errors.As(err, &known) && !errors.Is(err, model.ErrInvalid) {
				t.Fatalf("%s: %v", body, err)
			}
			return
		}
		attributes, err := parseAttributeList(web.Node{Value: resourceTypeDocument(updated)["attributes"]}, true, 0)
		if err != nil {
			t.Fatalf("%s: %s: %v", body, text.AppendJSON(nil, updated), err)
		}
		if again, err := updated.Update(attributes); err != nil || again != updated {
			t.Fatalf("%s: %s is not itself: %v, %v", body, text.AppendJSON(nil, updated), again, err)
		}
	})
}

func patchResourceType(old *model.ResourceType, body any) (*model.ResourceType, error) {
	operations, err := parsePatch(web.Node{Value: body})
	if err != nil {
		return nil, err
	}
	return applyTypePatch(old, operations, 0)
}
