package api

import (
	"fmt"
	"net/http"

	"github.com/cespare/xxhash/v2"

	"gnocco/model"
)

// setRevision tells clients and caches which revision of a resource they got.
func setRevision(w http.ResponseWriter, resource *model.Resource) {
	w.Header().Set("ETag", `"`+revisionTag(resource)+`"`)
	w.Header().Set("Last-Modified", resource.RevisionStart.Time().Format(http.TimeFormat))
}

// revisionTag differs between the revisions of all resources.
func revisionTag(resource *model.Resource) string {
	digest := xxhash.New()
	_, _ = digest.Write(resource.ID[:])
	_, _ = fmt.Fprint(digest, int64(resource.RevisionStart))
	return fmt.Sprintf("%016x", digest.Sum64())
}
