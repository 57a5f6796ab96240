package text

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
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

// ReadJSON reads JSON into maps, lists, texts, numbers as they came, booleans and nil. encoding/json would keep the
// last of two values of a key, and put another character in the place of half a surrogate pair. Here an error, which no
// field is, stands for such a value. The first one is odd.
func ReadJSON(body []byte) (value any, odd, err error) {
	if !utf8.Valid(body) {
		return nil, nil, errors.New("not UTF-8")
	}
	if !json.Valid(body) {
		decoder := json.NewDecoder(bytes.NewReader(body))
		if err = decoder.Decode(&value); err == nil {
			err = errors.New("trailing data")
		} else if err == io.EOF {
			err = errors.New("Expected object or value") //lint:ignore ST1005 as Gnocchi says
		}
		return nil, nil, err
	}
	r := reader{text: body}
	return r.value(), r.odd, nil
}

// A reader is a place in valid JSON.
type reader struct {
	text []byte
	at   int
	odd  error
}

// An OddValue stands for values that should not be there, and says why.
type OddValue struct {
	error
	Values []any
}

func (r *reader) refuse(reason string, values ...any) error {
	err := &OddValue{errors.New(reason), values}
	r.odd = cmp.Or[error](r.odd, err)
	return err
}

// next skips blanks.
func (r *reader) next() byte {
	for r.text[r.at] <= ' ' {
		r.at++
	}
	return r.text[r.at]
}

// items reads what stands between brackets, by one.
func (r *reader) items(end byte, one func()) {
	for r.at++; r.next() != end; {
		if one(); r.next() == ',' {
			r.at++
		}
	}
	r.at++
}

func (r *reader) value() any {
	switch r.next() {
	case '{':
		object := map[string]any{}
		r.items('}', func() {
			key, _ := r.value().(string)
			r.next()
			r.at++ // the colon
			value := r.value()
			if before, twice := object[key]; twice {
				value = r.refuse(fmt.Sprintf("%.100q stands there twice", key), before, value)
			}
			object[key] = value
		})
		return object
	case '[':
		list := []any{}
		r.items(']', func() { list = append(list, r.value()) })
		return list
	case '"':
		return r.quoted()
	}
	from := r.at
	for r.at < len(r.text) && r.text[r.at] > ' ' && bytes.IndexByte([]byte(",]}"), r.text[r.at]) < 0 {
		r.at++
	}
	switch word := string(r.text[from:r.at]); word {
	case "null":
		return nil
	case "true", "false":
		return word == "true"
	default:
		return json.Number(word)
	}
}

// quoted reads a text.
func (r *reader) quoted() any {
	from, escaped := r.at, false
	for r.at++; r.text[r.at] != '"'; r.at++ {
		if r.text[r.at] == '\\' {
			escaped = true
			r.at++
		}
	}
	r.at++
	text := r.text[from:r.at]
	if !escaped {
		return string(text[1 : len(text)-1])
	}
	if HasLoneSurrogate(text) {
		return r.refuse("an escaped surrogate stands alone")
	}
	var plain string
	_ = json.Unmarshal(text, &plain) // it is valid
	return plain
}

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
