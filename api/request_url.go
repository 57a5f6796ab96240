package api

import (
	"cmp"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-chi/chi/v5"

	"github.com/gnocco-db/gnocco/api/web"
)

// normalizePath ignores a slash at the end of a path, except for /v1/, which differs from /v1, and takes several
// slashes in a row for one: Gnocchi's own client asks for /v1/archive_policy//low when it changes a policy. Steps "."
// are left out, and what a client escaped without need is what it stands for (RFC 3986, 6.2.2).
func normalizePath(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		path := cmp.Or(r.URL.RawPath, r.URL.Path)
		if !strings.HasPrefix(path, "/debug/") {
			route := joinSlashes(unescapeUnreserved(path))
			for strings.Contains(route, "/./") {
				route = strings.ReplaceAll(route, "/./", "/")
			}
			if len(route) > 1 && strings.HasSuffix(route, "/") && !strings.HasSuffix(route, "/v1/") {
				route = strings.TrimSuffix(route, "/")
			}
			if route != path {
				chi.RouteContext(r.Context()).RoutePath = route
			}
		}
		next.ServeHTTP(w, r)
	})
}

// joinSlashes makes one slash of slashes in a row. A slash that a client escaped belongs to a name, and stays.
func joinSlashes(path string) string {
	if !strings.Contains(path, "//") {
		return path
	}
	joined := make([]byte, 0, len(path))
	for i := range len(path) {
		if path[i] != '/' || i == 0 || path[i-1] != '/' {
			joined = append(joined, path[i])
		}
	}
	return string(joined)
}

// unescapeUnreserved replaces the escapes of letters, digits and -._~ in an escaped path.
func unescapeUnreserved(path string) string {
	if !strings.Contains(path, "%") {
		return path
	}
	plain := make([]byte, 0, len(path))
	for i := 0; i < len(path); i++ {
		c := path[i]
		if c == '%' && isEscape(path[i:]) {
			digits, _ := strconv.ParseUint(path[i+1:i+3], 16, 8)
			if d := byte(digits); d == '-' || d == '.' || d == '_' || d == '~' || d >= '0' && d <= '9' ||
				d|0x20 >= 'a' && d|0x20 <= 'z' {
				plain = append(plain, d)
				i += 2
				continue
			}
		}
		plain = append(plain, c)
	}
	return string(plain)
}

// isEscape reports whether a text begins with % and two hexadecimal digits.
func isEscape(text string) bool {
	isHex := func(c byte) bool { return c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'f' }
	return len(text) >= 3 && text[0] == '%' && isHex(text[1]) && isHex(text[2])
}

// plainQuery takes ";" and a "%" that escapes nothing for themselves, as Gnocchi does: net/url would leave out such
// parameters, and a request without its filter is another request.
func plainQuery(query string) string {
	if !strings.ContainsAny(query, "%;") {
		return query
	}
	escaped := make([]byte, 0, len(query)+8)
	for i := range len(query) {
		switch c := query[i]; {
		case c == ';':
			escaped = append(escaped, "%3B"...)
		case c == '%' && !isEscape(query[i:]):
			escaped = append(escaped, "%25"...)
		default:
			escaped = append(escaped, c)
		}
	}
	return string(escaped)
}

// requireText refuses a URL that is not UTF-8 after unescaping, as all our names are UTF-8.
func (a *api) requireText(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !utf8.ValidString(r.URL.Path) {
			a.refusalOf(r)(w, r, web.BadRequest("The path is not UTF-8"))
			return
		}
		r.URL.RawQuery = plainQuery(r.URL.RawQuery)
		if err := checkQuery(r.URL.RawQuery); err != nil {
			a.refusalOf(r)(w, r, err)
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
		return web.BadRequest("The query cannot be read: %s", err)
	}
	for name, texts := range values {
		for _, text := range append(texts, name) {
			if !utf8.ValidString(text) {
				return web.BadArgument(name, "not UTF-8")
			}
		}
	}
	return nil
}
