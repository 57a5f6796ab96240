package api

import (
	"net/http"

	"gnocco/carbonara"
)

// getCapabilities lists every aggregation method.
func getCapabilities(w http.ResponseWriter, _ *http.Request) error {
	return writeJSON(w, http.StatusOK, struct {
		Methods []string `json:"aggregation_methods"`
	}{methodNames(carbonara.Methods())})
}

func methodNames(methods []carbonara.Method) []string {
	names := make([]string, len(methods))
	for i, m := range methods {
		names[i] = m.String()
	}
	return names
}
