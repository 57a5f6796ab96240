package filter

import (
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"
)

// plainly reports whether p is all of text. Time grows with len(p) x len(text) at worst.
func (p pattern) plainly(text string) bool {
	retryPattern, retryText := -1, 0 // after the last "%", and what it has swallowed so far
	at, t := 0, 0
	for t < len(text) {
		r, width := utf8.DecodeRuneInString(text[t:])
		switch {
		case at < len(p) && p[at] == anyText:
			at++
			retryPattern, retryText = at, t
		case at < len(p) && (p[at] == anyRune || p[at] == patternRune(r)):
			at, t = at+1, t+width
		case retryPattern >= 0:
			_, width := utf8.DecodeRuneInString(text[retryText:])
			retryText += width
			at, t = retryPattern, retryText
		default:
			return false
		}
	}
	for at < len(p) && p[at] == anyText {
		at++
	}
	return at == len(p)
}

// A compiled pattern matches what the pattern does rune by rune.
func TestLikeMatches(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	random := func(alphabet []string, most int) string {
		var text strings.Builder
		for range rng.IntN(most + 1) {
			text.WriteString(alphabet[rng.IntN(len(alphabet))])
		}
		return text.String()
	}
	matched := 0
	for range 200_000 {
		text, of := random([]string{"a", "b", "é", "%"}, 8), random([]string{"a", "b", "é", "%", "%", "_", `\%`, `\`},
			6)
		p := parsePattern(of)
		want := p.plainly(text)
		if want {
			matched++
		}
		if got := p.compile().matches(text); got != want {
			t.Fatalf("%q like %q: %v, want %v", text, of, got, want)
		}
	}
	if matched < 1000 {
		t.Errorf("%d of them match", matched)
	}
}

// BenchmarkLike is the pattern by which a search took 3 µs a comparison.
func BenchmarkLike(b *testing.B) {
	text := strings.Repeat("a", 250)
	for name, of := range map[string]string{"absent": strings.Repeat("%a", 100) + "%b",
		"absent within": strings.Repeat("%a", 100) + "%b%"} {
		p := parsePattern(of)
		b.Run("pattern="+name, func(b *testing.B) {
			l := p.compile()
			for b.Loop() {
				if l.matches(text) {
					b.Fatal("matches")
				}
			}
		})
	}
}
