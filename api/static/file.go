package static

import (
	"bytes"
	"compress/gzip"
	"hash/maphash"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
)

// File is something to send.
type File struct {
	contentType string
	policy      string // Content-Security-Policy
	gzip        func() []byte
	tag         string // ETag
	caching     string // Cache-Control
}

// How long browsers may use a file that they have.
const (
	asked     = "no-cache" // it is asked for again each time, and answered with 304
	immutable = "public, max-age=31536000, immutable"
)

var seed = maphash.MakeSeed()

// tagOf changes with the content, and when the process starts: rarely enough for pages that come with the program.
func tagOf(content []byte) string {
	return `"` + strconv.FormatUint(maphash.Bytes(seed, content), 36) + `"`
}

// New returns a file of content, which it compresses when the file is first asked for: most processes send none. The
// slice stays the caller's and must not change.
func New(contentType, policy string, content []byte) *File {
	return &File{contentType, policy, sync.OnceValue(func() []byte { return compress(content) }), tagOf(content), asked}
}

// NewImmutable is New for a file whose name changes with its content: browsers keep it, and what they compiled of it.
func NewImmutable(contentType, policy string, content []byte) *File {
	f := New(contentType, policy, content)
	f.caching = immutable
	return f
}

func compress(content []byte) []byte {
	var compressed bytes.Buffer
	w, _ := gzip.NewWriterLevel(&compressed, gzip.BestCompression) // a level that there is
	_, _ = w.Write(content)                                        // to memory: no error
	_ = w.Close()
	return compressed.Bytes()
}

// Compressed returns a file whose content is compressed already. The slice stays the caller's and must not change.
func Compressed(contentType, policy string, gzip []byte) *File {
	return &File{contentType, policy, func() []byte { return gzip }, tagOf(gzip), asked}
}

func (f *File) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	header.Set("Content-Type", f.contentType)
	header.Set("Content-Security-Policy", f.policy)
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Cache-Control", f.caching)
	header.Set("ETag", f.tag)
	if r.Header.Get("If-None-Match") == f.tag {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	content := f.gzip()
	if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		header.Set("Content-Encoding", "gzip")
	} else {
		content = f.plain()
	}
	header.Set("Content-Length", strconv.Itoa(len(content)))
	_, _ = w.Write(content) // the client has gone: nobody to tell
}

// plain uncompresses the content. Few clients need that.
func (f *File) plain() []byte {
	reader, err := gzip.NewReader(bytes.NewReader(f.gzip()))
	if err != nil {
		panic("static: " + err.Error()) // what we embedded is no gzip
	}
	content, err := io.ReadAll(reader)
	if err != nil {
		panic("static: " + err.Error())
	}
	return content
}
