package measures

import (
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
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
		if _, ok := hex4(s); ok {
			return 6
		}
	}
	return 0
}

// hex4 returns the code unit of \uXXXX.
func hex4(s []byte) (rune, bool) {
	if len(s) < 6 || s[0] != '\\' || s[1] != 'u' {
		return 0, false
	}
	n, err := strconv.ParseUint(string(s[2:6]), 16, 16)
	return rune(n), err == nil
}

// unescape resolves escape sequences that escapeSize has accepted. Surrogates without a partner become U+FFFD.
func unescape(raw []byte) string {
	text := make([]byte, 0, len(raw))
	for i := 0; i < len(raw); {
		if raw[i] != '\\' {
			text = append(text, raw[i])
			i++
			continue
		}
		switch c := raw[i+1]; c {
		case 'b':
			text = append(text, '\b')
		case 'f':
			text = append(text, '\f')
		case 'n':
			text = append(text, '\n')
		case 'r':
			text = append(text, '\r')
		case 't':
			text = append(text, '\t')
		case 'u':
			r, _ := hex4(raw[i:])
			i += 4
			if utf16.IsSurrogate(r) {
				second, ok := hex4(raw[i+2:])
				if r = utf16.DecodeRune(r, second); ok && r != utf8.RuneError {
					i += 6
				}
			}
			text = utf8.AppendRune(text, r)
		default:
			text = append(text, c)
		}
		i += 2
	}
	return string(text)
}
