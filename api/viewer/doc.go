// Package viewer is the page that shows openapi.yaml: Swagger UI, embedded, so that a browser needs nothing from
// elsewhere.
//
// It stands beside the API's two paths. The page names its files, and the description, relative to itself: it works
// below any mount prefix and behind any proxy. The files of swagger-ui/ are those of the npm package swagger-ui-dist,
// compressed, made by tools/build-viewer.sh; a test compares them with SHA256SUMS. Everything is held, and sent where
// the client agrees, as gzip.
package viewer
