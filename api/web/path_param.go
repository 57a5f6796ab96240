package web

import (
	"net/http"
	"net/url"

	"github.com/go-chi/chi/v5"
)

// Param returns a segment of the path, unescaped. The router matches the path as the client escaped it where Go
// keeps that form, else the plain one.
func Param(r *http.Request, name string) string { return UnescapeParam(r, chi.URLParam(r, name)) }

func UnescapeParam(r *http.Request, value string) string {
	if r.URL.RawPath != "" {
		if plain, err := url.PathUnescape(value); err == nil {
			return plain
		}
	}
	return value
}
