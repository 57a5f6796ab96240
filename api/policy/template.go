package policy

import (
	"fmt"
	"strings"
)

// template is a text with attributes of the target in it: "%(project_id)s"; "%%" is a percent sign.
type template struct {
	texts []string // one more than keys, which stand between them
	keys  []string
}

func parseTemplate(text string) (template, error) {
	var t template
	var literal strings.Builder
	for {
		before, rest, found := strings.Cut(text, "%")
		literal.WriteString(before)
		if !found {
			t.texts = append(t.texts, literal.String())
			return t, nil
		}
		if tail, ok := strings.CutPrefix(rest, "%"); ok {
			literal.WriteByte('%')
			text = tail
			continue
		}
		key, tail, closed := strings.Cut(strings.TrimPrefix(rest, "("), ")s")
		if !strings.HasPrefix(rest, "(") || !closed || key == "" {
			return t, fmt.Errorf("%q: after %% has to follow (attribute)s or another %%", "%"+rest)
		}
		t.texts, t.keys = append(t.texts, literal.String()), append(t.keys, key)
		literal.Reset()
		text = tail
	}
}

// fill returns the text with the target's attributes in it; null tells that one of them is null, and ok is false if one
// is missing.
func (t template) fill(target Target) (text string, null, ok bool) {
	if len(t.keys) == 0 {
		return t.texts[0], false, true
	}
	var b strings.Builder
	for i, key := range t.keys {
		if target == nil {
			return "", false, false
		}
		value, ok := target(key)
		if !ok {
			return "", false, false
		}
		b.WriteString(t.texts[i])
		switch value := value.(type) {
		case nil:
			null = true
			b.WriteString("None")
		case string:
			b.WriteString(value)
		case bool:
			b.WriteString(map[bool]string{true: "True", false: "False"}[value])
		default:
			fmt.Fprint(&b, value)
		}
	}
	b.WriteString(t.texts[len(t.keys)])
	return b.String(), null, true
}
