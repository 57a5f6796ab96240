package api_test

import (
	"net/http"
	"net/url"
	"regexp"
	"testing"

	"github.com/gnocco-db/gnocco"
)

// The page and all that it refers to are there below any mount prefix, without credentials.
func TestDocumentation(t *testing.T) {
	s := newServer(t, nil)
	for _, prefix := range []string{"", "/gnocchi"} {
		page := s.want(t, "GET "+prefix+"/docs", "", http.StatusOK, "~<html", "Authorization", "",
			"Accept", "text/html")
		base, err := url.Parse("http://example.com" + prefix + "/docs")
		check(t, err)
		for _, link := range regexp.MustCompile(`(?:src|href)="([^":]*)"`).FindAllStringSubmatch(page.Body.String(),
			-1) {
			target, err := base.Parse(link[1])
			check(t, err)
			s.want(t, "GET "+target.Path, "", http.StatusOK, "~", "Authorization", "")
		}
		s.want(t, "GET "+prefix+"/openapi.yaml", "", http.StatusOK, string(gnocco.OpenAPI), "Authorization", "")
		if w := s.want(t, "GET "+prefix+"/docs/", "", http.StatusFound, ""); w.Header().Get("Location") != "../docs" {
			t.Errorf("Location: %v", w.Header())
		}
		s.want(t, "GET "+prefix+"/docs/odd", "", http.StatusNotFound, "~no file odd")
	}
}
