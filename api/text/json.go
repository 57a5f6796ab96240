package text

import (
	"bytes"
	"encoding/json"
	"strconv"
	"unicode/utf16"
)

// AppendJSON appends v with a space after each colon and comma, as Python writes JSON: people grep for it. It panics if
// v does not marshal, so v is one of our own types.
func AppendJSON(dst []byte, v any) []byte {
	var compact bytes.Buffer
	encoder := json.NewEncoder(&compact)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		panic("text: " + err.Error())
	}
	text, escaped := false, false
	for _, c := range bytes.TrimSuffix(compact.Bytes(), []byte{'\n'}) {
		dst = append(dst, c)
		switch {
		case escaped:
			escaped = false
		case c == '\\':
			escaped = true
		case c == '"':
			text = !text
		case !text && (c == ',' || c == ':'):
			dst = append(dst, ' ')
		}
	}
	return dst
}

// LoneSurrogate is the reason to refuse what HasLoneSurrogate finds.
const LoneSurrogate = "an escaped surrogate stands alone"

// HasLoneSurrogate reports whether JSON has \uD800 to \uDFFF outside of pairs. No text has them, and encoding/json
// would put U+FFFD in their place.
func HasLoneSurrogate(body []byte) bool {
	for {
		at := bytes.IndexByte(body, '\\')
		if at < 0 || at+1 >= len(body) {
			return false
		}
		body = body[at:]
		first, ok := escapedUnit(body)
		if !ok { // another escape, such as \\
			body = body[2:]
			continue
		}
		body = body[6:]
		if !utf16.IsSurrogate(first) {
			continue
		}
		second, ok := escapedUnit(body)
		if !ok || utf16.DecodeRune(first, second) == '\uFFFD' {
			return true
		}
		body = body[6:]
	}
}

// escapedUnit reads \uXXXX at the start of body.
func escapedUnit(body []byte) (rune, bool) {
	if len(body) < 6 || body[0] != '\\' || body[1] != 'u' {
		return 0, false
	}
	n, err := strconv.ParseUint(string(body[2:6]), 16, 16)
	return rune(n), err == nil
}
