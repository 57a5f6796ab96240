package pages

import (
	"net/http"
	"strings"

	"github.com/gnocco-db/gnocco"
	"github.com/gnocco-db/gnocco/api/static"
	"github.com/gnocco-db/gnocco/api/viewer"
	"github.com/gnocco-db/gnocco/api/web"
)

// description is openapi.yaml, which loads nothing.
var description = static.New("application/yaml", "default-src 'none'", gnocco.OpenAPI)

func getDescription(w http.ResponseWriter, r *http.Request) error {
	description.ServeHTTP(w, r)
	return nil
}

// getDocs serves the page that shows the description. Its links are relative to /docs without a slash at its end.
func getDocs(w http.ResponseWriter, r *http.Request) error {
	if strings.HasSuffix(r.URL.Path, "/") {
		w.Header().Set("Location", "../docs")
		web.WriteBody(w, http.StatusFound, nil)
		return nil
	}
	viewer.Page.ServeHTTP(w, r)
	return nil
}

func getDocsFile(w http.ResponseWriter, r *http.Request) error { return serveFile(w, r, viewer.Files) }

// serveFile answers with the file that the path names.
func serveFile(w http.ResponseWriter, r *http.Request, files map[string]*static.File) error {
	name := web.Param(r, "file")
	file := files[name]
	if file == nil {
		return web.NotFound("There is no file %s", name)
	}
	file.ServeHTTP(w, r)
	return nil
}
