package model_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gnocco-db/gnocco/model"
)

func TestLabels(t *testing.T) {
	long := strings.Repeat("é", 100)
	var text []byte
	for _, pair := range [][2]string{{"__name__", "up"}, {"a", long}, {"b.c", "1"}} {
		text = model.AppendLabel(text, pair[0], pair[1])
	}
	labels := model.Labels(text)
	var got []string
	for name, value := range labels.All() {
		got = append(got, name+"="+value)
	}
	if want := "[__name__=up a=" + long + " b.c=1]"; fmt.Sprint(got) != want {
		t.Errorf("%v, want %s", got, want)
	}
	if !labels.Valid() || labels.Get("b.c") != "1" || labels.Get("b") != "" {
		t.Errorf("%q: valid %v, b.c %q, b %q", labels, labels.Valid(), labels.Get("b.c"), labels.Get("b"))
	}
	for i := 1; i < len(labels); i++ { // cut off
		if labels[:i].Valid() && !strings.HasPrefix(string(labels[i:]), "\x01a") &&
			!strings.HasPrefix(string(labels[i:]), "\x03b.c") {
			t.Errorf("%q is valid", labels[:i])
		}
	}
	for _, wrong := range []string{"\x01b\x01x\x01a\x01x", "\x01a\x00", "\x00\x01x", "\x01a\x01\xff", "\x81\x00a\x01x",
		"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"} {
		if model.Labels(wrong).Valid() {
			t.Errorf("%q is valid", wrong)
		}
	}
}
