package pages

import (
	"net/http"

	"github.com/gnocco-db/gnocco/api/web"
	"github.com/gnocco-db/gnocco/internal/version"
)

type link struct {
	Rel  string `json:"rel"`
	Href string `json:"href"`
}

type apiVersion struct {
	ID      string `json:"id"`
	Status  string `json:"status"`
	Updated string `json:"updated"`
	Links   []link `json:"links"`
}

// build is the version of Gnocchi whose API this is, then our own. Ceilometer refuses to work with a build before
// 4.2.0: it compares the parts between dots, which must be numbers at the beginning.
const build = "4.7.0+gnocco." + version.Number

// getVersions serves GET /: which versions of the API there are. The date is that of Gnocchi's API v1.
func (a *Handlers) getVersions(w http.ResponseWriter, r *http.Request) error {
	return web.WriteJSON(w, http.StatusOK, struct {
		Build    string       `json:"build"`
		Versions []apiVersion `json:"versions"`
	}{build, []apiVersion{{
		ID: "v1.0", Status: "CURRENT", Updated: "2015-03-19",
		Links: []link{{Rel: "self", Href: a.BaseURL(r) + "/v1/"}},
	}}})
}

// collections are the sub-trees of /v1 that getV1 links to.
var collections = []string{"aggregates", "aggregation", "archive_policy", "archive_policy_rule", "batch",
	"capabilities", "influxdb", "metric", "resource", "resource_type", "search", "status"}

func (a *Handlers) redirectToV1(w http.ResponseWriter, r *http.Request) error {
	w.Header().Set("Location", a.BaseURL(r)+"/v1/")
	web.WriteBody(w, http.StatusFound, nil)
	return nil
}

// getV1 serves GET /v1/: links to the collections.
func (a *Handlers) getV1(w http.ResponseWriter, r *http.Request) error {
	base := a.BaseURL(r) + "/v1"
	links := []link{{Rel: "self", Href: base}}
	for _, name := range collections {
		links = append(links, link{Rel: name, Href: base + "/" + name})
	}
	return web.WriteJSON(w, http.StatusOK, struct {
		Version string `json:"version"`
		Links   []link `json:"links"`
	}{"1.0", links})
}
