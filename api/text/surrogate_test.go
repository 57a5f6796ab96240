package text_test

import (
	"testing"

	"github.com/gnocco-db/gnocco/api/text"
)

func TestHasLoneSurrogate(t *testing.T) {
	f := func(body string, want bool) {
		t.Helper()
		if got := text.HasLoneSurrogate([]byte(body)); got != want {
			t.Errorf("%s: %t", body, got)
		}
	}
	f(`{"name": "caf\u00e9 \\ud800 \n"}`, false)
	f(`"\ud83d\ude00\uD83D\uDE00"`, false)
	f(`"\ud83d"`, true)
	f(`"\ud83d\n"`, true)
	f(`"\ude00"`, true)
	f(`"\ude00\ud83d"`, true)
	f(`"\ud83d\u0041"`, true)
	f(`"\\\ud83d"`, true)
	f(`"\uZZZZ \ud8`, false)
	f(`\`, false)
	f(``, false)
}
