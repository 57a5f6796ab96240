package text

import (
	"bytes"
	"encoding/json"
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
