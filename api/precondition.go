package api

import (
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/cespare/xxhash/v2"

	"github.com/gnocco-db/gnocco/api/web"
	"github.com/gnocco-db/gnocco/model"
)

var errPreconditionFailed = &web.Error{Status: http.StatusPreconditionFailed}

// checkPreconditions holds a request against the revision of the resource that it is about: If-Match, If-None-Match,
// If-Unmodified-Since and If-Modified-Since. It returns a 412, or, of a read only, that the client has it already.
func checkPreconditions(r *http.Request, resource *model.Resource) (notModified bool, err error) {
	tag := `"` + revisionTag(resource) + `"`
	modified := resource.RevisionStart.Time().Truncate(time.Second)
	read := r.Method == http.MethodGet || r.Method == http.MethodHead
	if match := r.Header.Get("If-Match"); match != "" {
		if !hasTag(match, tag, false) {
			return false, errPreconditionFailed
		}
	} else if since, ok := headerTime(r, "If-Unmodified-Since"); ok && since.Before(modified) {
		return false, errPreconditionFailed
	}
	if match := r.Header.Get("If-None-Match"); match != "" {
		switch {
		case !hasTag(match, tag, true):
			return false, nil
		case read:
			return true, nil
		}
		return false, errPreconditionFailed
	}
	since, ok := headerTime(r, "If-Modified-Since")
	return read && ok && !since.Before(modified), nil
}

// hasTag reports whether a list of entity tags has tag or is "*". Weak tags match where bytes need not be equal.
func hasTag(list, tag string, weak bool) bool {
	for item := range strings.SplitSeq(list, ",") {
		item = strings.TrimSpace(item)
		if weak {
			item = strings.TrimPrefix(item, "W/")
		}
		if item == "*" || item == tag || item == strings.Trim(tag, `"`) { // some clients leave the quotes out
			return true
		}
	}
	return false
}

// headerTime returns a header's time; one that is no time is as if it were absent.
func headerTime(r *http.Request, name string) (time.Time, bool) {
	t, err := http.ParseTime(r.Header.Get(name))
	return t, err == nil
}

// setRevision sets the headers that identify a resource's revision.
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
