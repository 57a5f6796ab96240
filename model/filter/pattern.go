package filter

import "unicode/utf8"

// pattern is that of a like: literal runes, any one rune, any text.
type pattern []patternRune

// patternRune is a rune to be found, or one of the wildcards, which are no runes.
type patternRune rune

const (
	anyRune patternRune = -1
	anyText patternRune = -2
)

func parsePattern(text string) pattern {
	var p pattern
	escaped := false
	for _, r := range text {
		switch {
		case escaped:
			p, escaped = append(p, patternRune(r)), false
		case r == '\\':
			escaped = true
		case r == '%':
			p = append(p, anyText)
		case r == '_':
			p = append(p, anyRune)
		default:
			p = append(p, patternRune(r))
		}
	}
	if escaped { // nothing follows: it stands for itself
		p = append(p, '\\')
	}
	return p
}

// matches tells whether p is all of text. Time grows with len(p) x len(text) at worst.
func (p pattern) matches(text string) bool {
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
