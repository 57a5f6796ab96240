package api

import "net/http"

// getHealth says that the process answers. It asks no store: a full disk is no reason to be restarted.
func getHealth(w http.ResponseWriter, r *http.Request) error {
	if r.Method == http.MethodHead {
		w.WriteHeader(http.StatusNoContent)
		return nil
	}
	w.Header().Set("Content-Type", "text/plain; charset=UTF-8")
	writeBody(w, http.StatusOK, nil)
	return nil
}
