package remote_test

import (
	"testing"

	"github.com/gnocco-db/gnocco/cmd/shared/remote"
)

func TestDidYouMean(t *testing.T) {
	f := func(typed, want string, words ...string) {
		t.Helper()
		if got := remote.DidYouMean(typed, words); got != want {
			t.Errorf("%s: %q, not %q", typed, got, want)
		}
	}
	f("--max-limits", " (did you mean --max-limit?)", "--listen", "--max-rows", "--max-limit")
	f("house/ine", " (did you mean house/in?)", "house/out", "house/in")
	f("metric", " (did you mean metrics?)", "rules", "metrics")
	f("attic", "", "house/in", "in")
	f("x", "", "metrics")
	f("--time", "", "--token", "--stop")
	f("--tokne", " (did you mean --token?)", "--token", "--stop")
	f("--ulr", " (did you mean --url?)", "--user", "--url")
	f("nope", "", "top", "list")
}
