package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"unicode/utf8"
)

// requireJSON answers 415 to any other type of body, also to none given.
func requireJSON(r *http.Request) error { return requireType(r, "application/json") }

func requireType(r *http.Request, want string) error {
	contentType := r.Header.Get("Content-Type")
	if contentType == want {
		return nil
	}
	if kind, _, err := mime.ParseMediaType(contentType); err != nil || kind != want {
		return &Error{Status: http.StatusUnsupportedMediaType, Detail: "The Content-Type has to be " + want}
	}
	return nil
}

// maxDocumentBytes limits the bodies that become maps and lists, which take many times the memory.
const maxDocumentBytes = 4 << 20

// readBody appends the body, of limit bytes at most, to dst.
func readBody(w http.ResponseWriter, r *http.Request, limit int64, dst []byte) ([]byte, error) {
	if r.ContentLength > limit {
		return dst, &http.MaxBytesError{Limit: limit}
	}
	if n := int(r.ContentLength); n > 0 && cap(dst)-len(dst) <= n {
		// One byte more, so that the end is seen without growing.
		dst = append(make([]byte, 0, len(dst)+n+1), dst...)
	}
	body := http.MaxBytesReader(w, r.Body, limit)
	for {
		if len(dst) == cap(dst) {
			dst = append(dst, 0)[:len(dst)]
		}
		n, err := body.Read(dst[len(dst):cap(dst)])
		dst = dst[:len(dst)+n]
		if err == io.EOF {
			return dst, nil
		}
		if err != nil {
			var tooLarge *http.MaxBytesError
			if errors.As(err, &tooLarge) {
				return dst, err
			}
			return dst, &Error{Status: http.StatusBadRequest, Detail: "The body could not be read", Err: err}
		}
	}
}

// decodeBody reads a small JSON body into maps, lists, strings, json.Numbers, booleans and nil, to be checked by the
// functions of input.go.
func (a *api) decodeBody(w http.ResponseWriter, r *http.Request) (any, error) {
	return a.decodeBodyOf(w, r, "application/json")
}

// decodeFields reads a small JSON body that is an object, with these keys: see input.fields.
func (a *api) decodeFields(w http.ResponseWriter, r *http.Request, keys ...string) (map[string]input, error) {
	body, err := a.decodeBody(w, r)
	if err != nil {
		return nil, err
	}
	return input{value: body}.fields(keys...)
}

// decodeBodyOf is decodeBody for a body of a type that is JSON by another name.
func (a *api) decodeBodyOf(w http.ResponseWriter, r *http.Request, contentType string) (any, error) {
	if err := requireType(r, contentType); err != nil {
		return nil, err
	}
	body, err := readBody(w, r, min(a.MaxBodyBytes, maxDocumentBytes), nil)
	if err != nil {
		return nil, err
	}
	if !utf8.Valid(body) { // encoding/json would put another character in the place of what is not
		return nil, undecodable("not UTF-8")
	}
	if hasLoneSurrogate(body) {
		return nil, undecodable(loneSurrogate)
	}
	var value any
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.UseNumber()
	err = decoder.Decode(&value)
	if err == nil {
		if _, after := decoder.Token(); after != io.EOF {
			err = errors.New("trailing data")
		}
	}
	if err != nil {
		reason := err.Error()
		if errors.Is(err, io.EOF) {
			reason = "Expected object or value"
		}
		return nil, undecodable(reason)
	}
	return value, nil
}

func undecodable(reason string) *Error {
	return &Error{Status: http.StatusBadRequest, Detail: Cause{Cause: "Unable to decode body", Reason: reason, Detail: []string{}}}
}
