package api

import (
	"net/http"

	"github.com/gnocco-db/gnocco/api/auth"
	"github.com/gnocco-db/gnocco/api/web"
)

// listBackups serves GET /v1/backups: the last backups of the cluster, the newest first.
func (a *api) listBackups(w http.ResponseWriter, _ *http.Request, _ *auth.Identity) error {
	all, err := a.options.Backups()
	return web.Answer(w, all, err)
}
