package filter

import (
	"strings"
	"unicode/utf8"
)

// like matches texts with a pattern. It holds the pattern's parts between the wildcards for any text. The first part
// stands at the start, the last one at the end, and those between are looked for from left to right.
type like []likePart

// likePart is literal text, or runes of which some may be any.
type likePart struct {
	literal string
	runes   pattern // nil: literal
}

// compile prepares matching.
func (p pattern) compile() like {
	var parts like
	var text strings.Builder
	from := 0
	for at := 0; at <= len(p); at++ {
		if at < len(p) && p[at] != anyText {
			if p[at] != anyRune {
				text.WriteRune(rune(p[at]))
			}
			continue
		}
		part := likePart{literal: text.String()}
		if utf8.RuneCountInString(part.literal) < at-from { // some are any
			part = likePart{runes: p[from:at]}
		}
		parts = append(parts, part)
		text.Reset()
		from = at + 1
	}
	return parts
}

// matches reports whether the pattern is all of text. Time grows with the lengths of both, multiplied only where a part
// has wildcards for one rune.
func (l like) matches(text string) bool {
	n := l[0].prefix(text)
	if len(l) == 1 || n < 0 {
		return n == len(text)
	}
	text = text[n:]
	last := l[len(l)-1]
	if n = last.suffix(text); n < 0 {
		return false
	}
	text = text[:n]
	between := l[1 : len(l)-1]
	for i := range between {
		if n = between[i].find(text); n < 0 {
			return false
		}
		text = text[n:]
	}
	return true
}

// prefix returns how long the part is at the start of text, -1 if it is not there.
func (p *likePart) prefix(text string) int {
	if p.runes == nil {
		if strings.HasPrefix(text, p.literal) {
			return len(p.literal)
		}
		return -1
	}
	at := 0
	for _, want := range p.runes {
		r, width := utf8.DecodeRuneInString(text[at:])
		if width == 0 || want != anyRune && want != patternRune(r) {
			return -1
		}
		at += width
	}
	return at
}

// suffix returns where the part begins at the end of text, -1 if it is not there.
func (p *likePart) suffix(text string) int {
	if p.runes == nil {
		if strings.HasSuffix(text, p.literal) {
			return len(text) - len(p.literal)
		}
		return -1
	}
	at := len(text)
	for range p.runes {
		_, width := utf8.DecodeLastRuneInString(text[:at])
		if width == 0 {
			return -1
		}
		at -= width
	}
	if p.prefix(text[at:]) < 0 {
		return -1
	}
	return at
}

// find returns where the part ends when it first occurs in text, -1 if it does not.
func (p *likePart) find(text string) int {
	if p.runes == nil {
		if strings.HasPrefix(text, p.literal) { // Index takes several times as long to say so
			return len(p.literal)
		}
		at := strings.Index(text, p.literal)
		if at < 0 {
			return -1
		}
		return at + len(p.literal)
	}
	for at := 0; at <= len(text); {
		if n := p.prefix(text[at:]); n >= 0 {
			return at + n
		}
		_, width := utf8.DecodeRuneInString(text[at:])
		at += max(1, width)
	}
	return -1
}

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
