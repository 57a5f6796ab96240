package api

import (
	"net/http"
	"strings"
)

// getHealth says that the process answers. It asks no store: a full disk is no reason to be restarted.
func getHealth(w http.ResponseWriter, r *http.Request) error {
	if r.Method == http.MethodHead {
		w.WriteHeader(http.StatusNoContent)
		return nil
	}
	if strings.Contains(r.Header.Get("Accept"), "application/json") {
		return writeJSON(w, http.StatusOK, struct {
			Detailed bool     `json:"detailed"`
			Reasons  []string `json:"reasons"`
		}{Reasons: []string{}})
	}
	w.Header().Set("Content-Type", "text/plain; charset=UTF-8")
	writeBody(w, http.StatusOK, nil)
	return nil
}
