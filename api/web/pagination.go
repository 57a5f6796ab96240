package web

import (
	"errors"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// Page is the part of a list that a query asks for.
type Page struct {
	Limit  int
	Marker string // ID of the last item of the page before; "" for the first page
	Sort   []string
}

// ParsePage reads limit, marker and sort. A limit above the most that we allow is lowered in silence, as in Gnocchi.
func (e *Env) ParsePage(query url.Values, sort ...string) (Page, error) {
	p := Page{Limit: e.MaxLimit, Marker: query.Get("marker"), Sort: sort}
	if query.Has("limit") {
		limit, err := strconv.Atoi(strings.TrimSpace(query.Get("limit")))
		if err != nil && !errors.Is(err, strconv.ErrRange) { // out of range, it is the greatest int, or the least
			return p, badPage("expected int for dictionary value @ data['limit']")
		}
		if limit < 1 {
			return p, badPage("value must be at least 1 for dictionary value @ data['limit']")
		}
		p.Limit = min(limit, e.MaxLimit)
	}
	if given := slices.DeleteFunc(slices.Clone(query["sort"]), func(s string) bool { return s == "" }); len(given) > 0 {
		p.Sort = given
	}
	return p, nil
}

func badPage(reason string) *Error {
	return &Error{Status: http.StatusBadRequest, Detail: struct {
		Cause  string `json:"cause"`
		Reason string `json:"reason"`
	}{"Argument value error", reason}}
}

// SetLink points to the page after last. The request's own parameters are kept; the path stays as the client wrote it.
func (e *Env) SetLink(w http.ResponseWriter, r *http.Request, query url.Values, p Page, last string) {
	query = maps.Clone(query) // its values are replaced, not changed
	query.Set("limit", strconv.Itoa(p.Limit))
	query.Set("marker", last)
	query["sort"] = p.Sort
	path := strings.TrimPrefix(r.URL.EscapedPath(), e.mountPrefix(r))
	w.Header().Add("Link", "<"+e.BaseURL(r)+path+"?"+query.Encode()+`>; rel="next"`)
}

// ParseBool reads a boolean parameter; what says that it is absent.
func ParseBool(query url.Values, name string, absent bool) (bool, error) {
	if !query.Has(name) {
		return absent, nil
	}
	switch text := strings.ToLower(query.Get(name)); text {
	case "y", "yes", "t", "true", "on", "1":
		return true, nil
	case "n", "no", "f", "false", "off", "0":
		return false, nil
	default:
		return false, BadRequest("Unable to parse `%s': invalid truth value '%s'", name, text)
	}
}
