package web

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/gnocco-db/gnocco/api/text"
)

// AcceptsJSON reports whether the client takes application/json: it says so, or takes anything, or says nothing.
func AcceptsJSON(r *http.Request) bool {
	accept := r.Header.Get("Accept")
	if accept == "" || accept == "*/*" || accept == "application/json" {
		return true
	}
	for item := range strings.SplitSeq(accept, ",") {
		kind, parameters, _ := strings.Cut(item, ";")
		switch strings.ToLower(strings.TrimSpace(kind)) {
		case "application/json", "application/*", "*/*":
			if Quality(parameters) > 0 {
				return true
			}
		}
	}
	return false
}

// rowForms are the forms of rows by media type. A client that accepts any type gets JSON's.
var rowForms = map[string]*text.Form{
	"application/json": &text.Lists, "application/*": &text.Lists, "*/*": &text.Lists,
	"text/csv": &text.CSV, "text/*": &text.CSV, "application/x-ndjson": &text.JSONLines,
}

// AcceptedRows returns the form of rows that the client prefers, nil if it accepts none.
func AcceptedRows(r *http.Request) (form *text.Form) {
	accept := r.Header.Get("Accept")
	if accept == "" {
		return &text.Lists
	}
	best := 0.0
	for item := range strings.SplitSeq(accept, ",") {
		kind, parameters, _ := strings.Cut(item, ";")
		offered := rowForms[strings.ToLower(strings.TrimSpace(kind))]
		if q := Quality(parameters); offered != nil && q > best {
			form, best = offered, q
		}
	}
	return form
}

// Quality returns q of an item's parameters, 1 without.
func Quality(parameters string) float64 {
	for parameter := range strings.SplitSeq(parameters, ";") {
		if q, ok := strings.CutPrefix(strings.TrimSpace(parameter), "q="); ok {
			value, err := strconv.ParseFloat(q, 64)
			if err != nil {
				return 0
			}
			return value
		}
	}
	return 1
}
