package web

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"mime"
	"net/http"
	"os"
	"strconv"

	"github.com/gnocco-db/gnocco/api/text"
	"github.com/gnocco-db/gnocco/ingest/plaintext"
	"github.com/gnocco-db/gnocco/internal/budget"
)

// RequireJSON answers 415 to any other type of body, also to none given.
func RequireJSON(r *http.Request) error { return requireType(r, "application/json") }

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

// The bodies that become maps and lists take many times the memory. Most name a thing and its attributes.
const (
	MaxDocumentBytes = 1 << 20
	MaxBatchBytes    = 4 << 20 // of many resources
)

// ReadBody appends the body, of limit bytes at most, to dst: uncompressed, as clients may send it with gzip or zstd. It
// takes factor times the size of the memory for that use.
func (e *Env) ReadBody(w http.ResponseWriter, r *http.Request, limit int64, use budget.Use, factor Factor,
	dst []byte) ([]byte, error) {
	plain, err := e.Uncompressed(w, r, limit, use)
	if err != nil {
		return dst, err
	}
	if plain != r {
		defer plain.Body.Close()
		limit = min(limit, maxUnzippedBytes)
	}
	body, err := e.ReadEncoded(w, plain, limit, use, factor, dst)
	return bytes.TrimPrefix(body, plaintext.Mark), err // a byte order mark
}

// ParseForm reads the form of the query and of a body of limit bytes at most, which may be compressed.
func (e *Env) ParseForm(w http.ResponseWriter, r *http.Request, limit int64) error {
	plain, err := e.Uncompressed(w, r, limit, budget.Documents)
	if err != nil {
		return err
	}
	if plain != r {
		defer plain.Body.Close()
	}
	plain.Body = http.MaxBytesReader(w, plain.Body, limit)
	err = plain.ParseForm()
	r.Form, r.PostForm = plain.Form, plain.PostForm
	return err
}

// ReadEncoded is readBody for a body as it is, in any encoding.
func (e *Env) ReadEncoded(w http.ResponseWriter, r *http.Request, limit int64, use budget.Use, factor Factor,
	dst []byte) ([]byte, error) {
	limit = e.bodyLimit(limit, factor)
	if r.ContentLength > limit {
		return dst, &http.MaxBytesError{Limit: limit}
	}
	memory := bodyMemory{account: budget.Of(r.Context()), use: use, factor: factor}
	if err := memory.cover(r.Context(), r.ContentLength); err != nil {
		return dst, err
	}
	if n := int(r.ContentLength); n > 0 && cap(dst)-len(dst) <= n {
		// One byte more, so that the end is seen without growing.
		dst = append(make([]byte, 0, len(dst)+n+1), dst...)
	}
	body := http.MaxBytesReader(w, r.Body, limit)
	for {
		if len(dst) == cap(dst) {
			if err := memory.cover(r.Context(), min(limit, 2*int64(len(dst)))); err != nil {
				return dst, err
			}
			dst = append(dst, 0)[:len(dst)]
		}
		n, err := body.Read(dst[len(dst):cap(dst)])
		dst = dst[:len(dst)+n]
		if err == io.EOF {
			memory.settle(int64(len(dst)))
			return dst, nil
		}
		if err == nil {
			err = memory.cover(r.Context(), int64(len(dst)))
		}
		if err != nil {
			return dst, unreadableBody(err, "The body could not be read")
		}
	}
}

// unreadableBody is the answer to a body that ends with err. detail says so where nothing more is known.
func unreadableBody(err error, detail string) error {
	switch {
	case errors.As(err, new(*http.MaxBytesError)), errors.Is(err, budget.ErrExhausted):
		return err
	case errors.Is(err, os.ErrDeadlineExceeded):
		return &Error{Status: http.StatusRequestTimeout, Detail: "The body came too slowly", Err: err}
	case errors.As(err, new(*Error)):
		return err
	}
	return &Error{Status: http.StatusBadRequest, Detail: detail, Err: err}
}

// DecodeBody reads a small JSON body into maps, lists, strings, json.Numbers, booleans and nil, to be checked by the
// functions of json_value.go.
func (e *Env) DecodeBody(w http.ResponseWriter, r *http.Request) (any, error) {
	return e.DecodeBodyOf(w, r, "application/json", MaxDocumentBytes)
}

// DecodeFields reads a small JSON body that is an object, with these keys: see jsonValue.fields.
func (e *Env) DecodeFields(w http.ResponseWriter, r *http.Request, keys ...string) (map[string]Node, error) {
	body, err := e.DecodeBody(w, r)
	if err != nil {
		return nil, err
	}
	return Node{Value: body}.Fields(keys...)
}

// DecodeBodyOf is decodeBody for a body of a type that is JSON, perhaps by another name, of limit bytes at most.
func (e *Env) DecodeBodyOf(w http.ResponseWriter, r *http.Request, contentType string, limit int64) (any, error) {
	if err := requireType(r, contentType); err != nil {
		return nil, err
	}
	body, err := e.ReadBody(w, r, min(e.MaxBodyBytes, limit), budget.Documents, documentFactor, nil)
	if err != nil {
		return nil, err
	}
	value, odd, err := text.ReadJSON(body)
	if err = cmp.Or(err, odd); err != nil {
		return nil, Undecodable(err.Error())
	}
	return value, nil
}

func Undecodable(reason string) *Error {
	return BadCause("Unable to decode body", reason, []string{})
}

// WriteJSON answers with v, which is one of our own types: it always marshals.
func WriteJSON(w http.ResponseWriter, status int, v any) error {
	w.Header().Set("Content-Type", "application/json")
	WriteBody(w, status, text.AppendJSON(nil, v))
	return nil
}

// Answer answers 200 with v, one of our own types, unless err says that there is none.
func Answer(w http.ResponseWriter, v any, err error) error {
	if err != nil {
		return err
	}
	return WriteJSON(w, http.StatusOK, v)
}

// NoContent answers 204 unless there is an error.
func NoContent(w http.ResponseWriter, err error) error {
	if err == nil {
		w.WriteHeader(http.StatusNoContent)
	}
	return err
}

// WriteBody answers with body. That the client has gone by now is not our fault, nor the client's to read.
func WriteBody(w http.ResponseWriter, status int, body []byte) {
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	_, _ = w.Write(body)
}
