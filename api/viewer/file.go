package viewer

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"hash/maphash"
	"io"
	"net/http"
	"strconv"
	"strings"
)

//go:embed page.html
var page []byte

//go:embed start.js
var start []byte

//go:embed swagger-ui/swagger-ui-bundle.js.gz
var bundle []byte

//go:embed swagger-ui/swagger-ui.css.gz
var style []byte

// files are what the page asks for, below it.
var files = map[string]*file{
	"swagger-ui-bundle.js": {"text/javascript; charset=utf-8", bundle, tagOf(bundle)},
	"swagger-ui.css":       {"text/css; charset=utf-8", style, tagOf(style)},
	"start.js":             compress("text/javascript; charset=utf-8", start),
}

var pageFile = compress("text/html; charset=utf-8", page)

// policy lets the page load from where it comes from only; Swagger UI sets styles by itself, and its style sheet has
// pictures inside.
const policy = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// file is something to send.
type file struct {
	contentType string
	gzip        []byte
	tag         string // ETag
}

var seed = maphash.MakeSeed()

// tagOf changes with the content, and when the process starts: rarely enough for a page of documentation.
func tagOf(content []byte) string {
	return `"` + strconv.FormatUint(maphash.Bytes(seed, content), 36) + `"`
}

func compress(contentType string, content []byte) *file {
	var compressed bytes.Buffer
	w := gzip.NewWriter(&compressed)
	_, _ = w.Write(content) // to memory: no error
	_ = w.Close()
	return &file{contentType, compressed.Bytes(), tagOf(content)}
}

// ServePage answers with the page.
func ServePage(w http.ResponseWriter, r *http.Request) { pageFile.serve(w, r) }

// ServeFile answers with a file of the page; false, having written nothing, if there is none of that name.
func ServeFile(w http.ResponseWriter, r *http.Request, name string) bool {
	f, ok := files[name]
	if ok {
		f.serve(w, r)
	}
	return ok
}

// NewFile returns a function that answers with content, which stays the caller's and must not change.
func NewFile(contentType string, content []byte) http.HandlerFunc {
	return compress(contentType, content).serve
}

func (f *file) serve(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	header.Set("Content-Type", f.contentType)
	header.Set("Content-Security-Policy", policy)
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Cache-Control", "no-cache") // asked for again each time, and answered with 304
	header.Set("ETag", f.tag)
	header.Add("Vary", "Accept-Encoding")
	if r.Header.Get("If-None-Match") == f.tag {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	content := f.gzip
	if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		header.Set("Content-Encoding", "gzip")
	} else {
		content = f.plain()
	}
	header.Set("Content-Length", strconv.Itoa(len(content)))
	_, _ = w.Write(content) // the client has gone: nobody to tell
}

// plain uncompresses the content. Few clients need that.
func (f *file) plain() []byte {
	reader, err := gzip.NewReader(bytes.NewReader(f.gzip))
	if err != nil {
		panic("viewer: " + err.Error()) // what we embedded is no gzip
	}
	content, err := io.ReadAll(reader)
	if err != nil {
		panic("viewer: " + err.Error())
	}
	return content
}
