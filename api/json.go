package api

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strconv"
)

// writeJSON answers with v, which is one of our own types: it always marshals.
func writeJSON(w http.ResponseWriter, status int, v any) error {
	w.Header().Set("Content-Type", "application/json")
	writeBody(w, status, appendJSON(nil, v))
	return nil
}

// writeBody answers with body. That the client has gone by now is not our fault, nor the client's to read.
func writeBody(w http.ResponseWriter, status int, body []byte) {
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	_, _ = w.Write(body)
}

// appendJSON appends v with a space after each colon and comma, as Python writes JSON: people grep for it.
func appendJSON(dst []byte, v any) []byte {
	var compact bytes.Buffer
	encoder := json.NewEncoder(&compact)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		panic("api: " + err.Error())
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
