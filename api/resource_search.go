package api

import (
	"net/http"

	"github.com/gnocco-db/gnocco/api/auth"
	"github.com/gnocco-db/gnocco/api/web"
)

// search lists the resources that a filter matches, page by page.
func (a resourceHandlers) search(w http.ResponseWriter, r *http.Request, who *auth.Identity) error {
	if _, err := a.Index.ResourceType(web.Param(r, "type")); err != nil {
		return err
	}
	e, err := a.RequestFilter(w, r)
	if err != nil {
		return err
	}
	return a.Evaluate(w, r, who, func(w http.ResponseWriter) error {
		return a.answerList(w, r, who, "search resource", e)
	})
}
