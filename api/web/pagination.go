package web

import (
	"errors"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/google/uuid"
)

// Page is the part of a list that a query asks for.
type Page struct {
	Limit  int
	Marker string // ID of the last item of the page before; "" for the first page
	Sort   []string
}

// ParsePage reads limit, marker and sort. A limit above the most that we allow is lowered in silence, as in Gnocchi.
func (e *Env) ParsePage(values url.Values, sort ...string) (Page, error) {
	p := Page{Limit: e.MaxLimit, Marker: values.Get("marker"), Sort: sort}
	if values.Has("limit") {
		limit, err := strconv.Atoi(strings.TrimSpace(values.Get("limit")))
		if err != nil && !errors.Is(err, strconv.ErrRange) { // out of range, it is the greatest int, or the least
			return p, badPage("expected int for dictionary value @ data['limit']")
		}
		if limit < 1 {
			return p, badPage("value must be at least 1 for dictionary value @ data['limit']")
		}
		p.Limit = min(limit, e.MaxLimit)
	}
	given := slices.DeleteFunc(slices.Clone(values["sort"]), func(key string) bool { return key == "" })
	if len(given) > 0 {
		p.Sort = given
	}
	return p, nil
}

// ParseIDPage is ParsePage where the marker is the ID of something; uuid.Nil for the first page.
func (e *Env) ParseIDPage(values url.Values, something string) (p Page, after uuid.UUID, err error) {
	if p, err = e.ParsePage(values); err == nil && p.Marker != "" {
		if after, err = uuid.Parse(p.Marker); err != nil {
			err = BadArgument("marker", "Must be the ID of "+something)
		}
	}
	return p, after, err
}

func badPage(reason string) *Error {
	return &Error{Status: http.StatusBadRequest,
		Detail: map[string]string{"cause": "Argument value error", "reason": reason}}
}

// SetLink points to the page after last. The request's own parameters are kept; the path stays as the client wrote it.
func (e *Env) SetLink(w http.ResponseWriter, r *http.Request, values url.Values, p Page, last string) {
	values = maps.Clone(values) // its values are replaced, not changed
	values.Set("limit", strconv.Itoa(p.Limit))
	values.Set("marker", last)
	values["sort"] = p.Sort
	path := strings.TrimPrefix(r.URL.EscapedPath(), e.mountPrefix(r))
	w.Header().Add("Link", "<"+e.BaseURL(r)+path+"?"+values.Encode()+`>; rel="next"`)
}
