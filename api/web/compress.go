package web

import (
	"net/http"
	"strings"

	"github.com/klauspost/compress/gzhttp"
	"github.com/klauspost/compress/gzip"
)

// minCompressed is from which size on an answer is worth compressing: a smaller one fits a packet.
const minCompressed = 1400

// Compress compresses answers by gzip, or by zstd for clients that prefer it. Browsers accept both alike, and gzip is
// as fast. It stands outside of the memory's account, since answers are held uncompressed.
func Compress(next http.Handler) http.Handler {
	wrap, err := gzhttp.NewWrapper(gzhttp.MinSize(minCompressed), gzhttp.CompressionLevel(gzip.BestSpeed),
		gzhttp.PreferZstd(false), gzhttp.SetContentType(false), gzhttp.ContentTypeFilter(isText))
	if err != nil {
		panic("web: " + err.Error()) // options that are none
	}
	return wrap(next)
}

// isText reports whether answers of a type become smaller.
func isText(contentType string) bool {
	return strings.HasPrefix(contentType, "text/") || strings.HasPrefix(contentType, "application/json") ||
		strings.HasPrefix(contentType, "application/x-ndjson")
}
