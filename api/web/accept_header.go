package web

import (
	"net/http"
	"strconv"
	"strings"
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
