package filter

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
