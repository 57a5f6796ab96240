package api

import (
	"net/http"
	"strings"

	"gnocco"
	"gnocco/api/viewer"
)

// serveDescription answers with openapi.yaml.
var serveDescription = viewer.NewFile("application/yaml", gnocco.OpenAPI)

func getDescription(w http.ResponseWriter, r *http.Request) error {
	serveDescription(w, r)
	return nil
}

// getDocs serves the page that shows the description. What it refers to is relative to /docs without a slash at its
// end.
func getDocs(w http.ResponseWriter, r *http.Request) error {
	if strings.HasSuffix(r.URL.Path, "/") {
		w.Header().Set("Location", "../docs")
		writeBody(w, http.StatusFound, nil)
		return nil
	}
	viewer.ServePage(w, r)
	return nil
}

func getDocsFile(w http.ResponseWriter, r *http.Request) error {
	if name := param(r, "file"); !viewer.ServeFile(w, r, name) {
		return notFound("There is no file %s", name)
	}
	return nil
}
