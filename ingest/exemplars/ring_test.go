package exemplars_test

import (
	"strings"
	"testing"

	"github.com/gnocco-db/gnocco/ingest/exemplars"
	"github.com/gnocco-db/gnocco/model"
)

func of(ms int64, label string) exemplars.Exemplar {
	return exemplars.Exemplar{Creator: "jd", Series: model.AppendLabel([]byte(nil), model.LabelName, "up"),
		Labels: model.AppendLabel([]byte(nil), "trace_id", label), Millis: ms}
}

// The newest exemplars stay, within the bound, whether they come one by one or together.
func TestRing(t *testing.T) {
	r := exemplars.New(10_000)
	all := exemplars.Span{Start: 0, End: 1 << 60}
	for ms := range int64(1000) {
		r.Add([]exemplars.Exemplar{of(2*ms, "a"), of(2*ms+1, "b")})
	}
	found := r.Within(all)
	if n := len(found); n < 40 || n > 60 {
		t.Fatalf("%d exemplars in 10,000 bytes", n)
	}
	for i, e := range found {
		if want := int64(2000 - len(found) + i); e.Millis != want {
			t.Fatalf("exemplar %d is of %d ms, want %d", i, e.Millis, want)
		}
	}
	if got := r.Within(exemplars.Span{Start: 1990, End: 1992}); len(got) != 3 {
		t.Errorf("%d exemplars of 3 ms", len(got))
	}
	many := make([]exemplars.Exemplar, 1000)
	for i := range many {
		many[i] = of(int64(i), "c")
	}
	if r.Add(many); len(r.Within(all)) != len(found) {
		t.Errorf("%d exemplars, want %d", len(r.Within(all)), len(found))
	}
}

func TestValid(t *testing.T) {
	for label, want := range map[string]bool{"é": true, strings.Repeat("é", 120): true, strings.Repeat("x", 121): false, "\xff": false} {
		if e := of(1, label); e.Valid() != want {
			t.Errorf("%q: %t, want %t", label, !want, want)
		}
	}
	nameless := of(1, "a")
	if nameless.Series = nil; nameless.Valid() {
		t.Error("a series without a name has an exemplar")
	}
}
