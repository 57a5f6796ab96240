package model

import "unicode/utf8"

// MatchPattern reports whether name matches a shell pattern as Python's fnmatch has it: "*" is any text, "?" one
// character, "[a-z]" one of a set, "[!a-z]" one outside of it; a "[" that is never closed is itself. There are no
// escapes, case counts, and every pattern is valid. Time grows with len(pattern) x len(name) at worst.
func MatchPattern(pattern, name string) bool {
	retryPattern, retryName := -1, 0 // after the last "*", and what it has swallowed so far
	p, n := 0, 0
	for n < len(name) {
		if p < len(pattern) && pattern[p] == '*' {
			p++
			retryPattern, retryName = p, n
			continue
		}
		if p < len(pattern) {
			r, width := utf8.DecodeRuneInString(name[n:])
			if next, ok := matchOne(pattern, p, r, name[n:n+width]); ok {
				p, n = next, n+width
				continue
			}
		}
		if retryPattern < 0 {
			return false
		}
		_, width := utf8.DecodeRuneInString(name[retryName:])
		retryName += width
		p, n = retryPattern, retryName
	}
	for p < len(pattern) && pattern[p] == '*' {
		p++
	}
	return p == len(pattern)
}

// matchOne matches one character, r, whose bytes are text, against the pattern at p, which is no "*". It returns where
// the pattern goes on.
func matchOne(pattern string, p int, r rune, text string) (next int, ok bool) {
	switch pattern[p] {
	case '?':
		return p + 1, true
	case '[':
		if end := setEnd(pattern, p); end > 0 {
			return end + 1, matchSet(pattern[p+1:end], r)
		}
	}
	_, width := utf8.DecodeRuneInString(pattern[p:])
	return p + width, pattern[p:p+width] == text
}

// setEnd returns the index of the "]" that closes the set opened at p, or 0. A "]" that comes first is a member.
func setEnd(pattern string, p int) int {
	i := p + 1
	if i < len(pattern) && pattern[i] == '!' {
		i++
	}
	if i < len(pattern) && pattern[i] == ']' {
		i++
	}
	for ; i < len(pattern); i++ {
		if pattern[i] == ']' {
			return i
		}
	}
	return 0
}

func matchSet(set string, r rune) bool {
	members := []rune(set)
	negated := members[0] == '!' // a set is never empty: see setEnd
	if negated {
		members = members[1:]
	}
	for i := 0; i < len(members); i++ {
		if i+2 < len(members) && members[i+1] == '-' {
			if members[i] <= r && r <= members[i+2] {
				return !negated
			}
			i += 2
			continue
		}
		if members[i] == r {
			return !negated
		}
	}
	return negated
}
