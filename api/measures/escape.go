package measures

import (
	"unicode/utf16"
	"unicode/utf8"

	"github.com/gnocco-db/gnocco/api/text"
)

// escapeSize returns the length of the escape sequence that s begins with, 0 if it is none.
func escapeSize(s []byte) int {
	if len(s) < 2 {
		return 0
	}
	switch s[1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2
	case 'u':
		if _, ok := text.EscapedUnit(s); ok {
			return 6
		}
	}
	return 0
}

// unescape resolves escape sequences that escapeSize has accepted. Surrogates without a partner become U+FFFD.
func unescape(raw []byte) string {
	plain := make([]byte, 0, len(raw))
	for i := 0; i < len(raw); {
		if raw[i] != '\\' {
			plain = append(plain, raw[i])
			i++
			continue
		}
		switch c := raw[i+1]; c {
		case 'b':
			plain = append(plain, '\b')
		case 'f':
			plain = append(plain, '\f')
		case 'n':
			plain = append(plain, '\n')
		case 'r':
			plain = append(plain, '\r')
		case 't':
			plain = append(plain, '\t')
		case 'u':
			r, _ := text.EscapedUnit(raw[i:])
			i += 4
			if utf16.IsSurrogate(r) {
				second, ok := text.EscapedUnit(raw[i+2:])
				if r = utf16.DecodeRune(r, second); ok && r != utf8.RuneError {
					i += 6
				}
			}
			plain = utf8.AppendRune(plain, r)
		default:
			plain = append(plain, c)
		}
		i += 2
	}
	return string(plain)
}
