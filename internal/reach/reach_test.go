package reach_test

import (
	"strings"
	"testing"
	"time"

	"github.com/gnocco-db/gnocco/internal/reach"
)

// A process is of no use once it has reached the holder of the index, or every holder of sacks, for too long no more,
// and another process does better.
func TestReach(t *testing.T) {
	const after = 15 * time.Second
	holder := func(id string, index, answers bool) reach.Holder {
		return reach.Holder{ID: id, Address: id + ":1", Index: index, Answers: answers}
	}
	f := func(name string, holders []reach.Holder, lost string) {
		t.Helper()
		r := reach.Reach{After: after}
		now := time.Unix(1000, 0)
		for _, at := range []time.Duration{0, after, after + time.Second} {
			got := r.Note(now.Add(at), holders)
			want := lost
			if at <= after {
				want = ""
			}
			if (got != "") != (want != "") || !strings.Contains(got, want) {
				t.Errorf("%s after %s: %q, want %q", name, at, got, want)
			}
		}
		if reason, elsewhere := r.Why(); (reason != "") != (lost != "") || elsewhere {
			t.Errorf("%s: %q, elsewhere %t, and no other does better", name, reason, elsewhere)
		}
		r.Compare(true)
		if _, elsewhere := r.Why(); elsewhere != (lost != "") {
			t.Errorf("%s: others do better, and elsewhere is %t", name, elsewhere)
		}
		for i := range holders {
			holders[i].Answers = true
		}
		if got := r.Note(now.Add(2*after), holders); got != "" {
			t.Errorf("%s: all answer again: %q", name, got)
		}
	}
	f("holds all", nil, "")
	f("all answer", []reach.Holder{holder("i", true, true), holder("a", false, true)}, "")
	f("one of two workers", []reach.Holder{holder("a", false, true), holder("b", false, false)}, "")
	f("the only worker", []reach.Holder{holder("i", true, true), holder("a", false, false), holder("a", false, false)},
		"does not reach a at a:1 (2 sacks), which another API reaches, so it can ask 0 of 2 sacks")
	f("both workers", []reach.Holder{holder("a", false, false), holder("b", false, false)}, "a at a:1 (1 sack), b at b:1 (1 sack), which")
	f("the index", []reach.Holder{holder("i", true, false), holder("a", false, true)}, "i at i:1 (the index), which another API reaches, so it can ask 1 of 1 sack elsewhere")
	f("the index alone is elsewhere", []reach.Holder{holder("i", true, true)}, "")
}

// Silence counts from its beginning, and answers end it.
func TestSilenceBeginsAnew(t *testing.T) {
	r := reach.Reach{After: 10 * time.Second}
	for at, answers := range []bool{false, false, true, false, false, false} {
		got := r.Note(time.Unix(int64(at)*7, 0), []reach.Holder{{ID: "a", Answers: answers}})
		if (got != "") != (at == 5) {
			t.Errorf("after %d s: %q", at*7, got)
		}
	}
}
