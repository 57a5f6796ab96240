package viewer

import (
	_ "embed"

	"github.com/gnocco-db/gnocco/api/static"
)

//go:embed page.html
var page []byte

//go:embed start.js
var start []byte

//go:embed swagger-ui/swagger-ui-bundle.js.gz
var bundle []byte

//go:embed swagger-ui/swagger-ui.css.gz
var style []byte

// Files are what the page asks for, below it.
var Files = map[string]*static.File{
	"swagger-ui-bundle.js": static.Compressed("text/javascript; charset=utf-8", policy, bundle),
	"swagger-ui.css":       static.Compressed("text/css; charset=utf-8", policy, style),
	"start.js":             static.New("text/javascript; charset=utf-8", policy, start),
}

// Page shows openapi.yaml.
var Page = static.New("text/html; charset=utf-8", policy, page)

// policy lets the page load from where it comes from only; Swagger UI sets styles by itself, and its style sheet has
// pictures inside.
const policy = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; " +
	"img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
