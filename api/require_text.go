package api

import (
	"net/http"
	"net/url"
	"strings"
	"unicode/utf8"
)

// requireText refuses a URL that is not UTF-8 once unescaped, since no name of ours is, and a query that cannot be taken apart:
// net/url leaves out the parameters at fault, and a request without its filter is another request.
func (a *api) requireText(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !utf8.ValidString(r.URL.Path) {
			a.fail(w, r, badRequest("The path is not UTF-8"))
			return
		}
		if err := checkQuery(r.URL.RawQuery); err != nil {
			a.fail(w, r, err)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func checkQuery(query string) error {
	if !strings.ContainsAny(query, "%;") && utf8.ValidString(query) {
		return nil
	}
	values, err := url.ParseQuery(query)
	if err != nil {
		return badRequest("The query cannot be read: %s", err)
	}
	for name, texts := range values {
		for _, text := range append(texts, name) {
			if !utf8.ValidString(text) {
				return badArgument(name, "not UTF-8")
			}
		}
	}
	return nil
}
