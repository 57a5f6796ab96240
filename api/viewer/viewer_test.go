package viewer_test

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/gnocco-db/gnocco/api/viewer"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

// The served files are those of npm's package: SHA256SUMS is written from it.
func TestFilesAreThoseOfThePackage(t *testing.T) {
	sums, err := os.ReadFile("swagger-ui/SHA256SUMS")
	fatal.If(t, err)
	for line := range strings.Lines(string(sums)) {
		want, name, _ := strings.Cut(strings.TrimSpace(line), "  ")
		content, err := os.ReadFile("swagger-ui/" + name)
		if err != nil { // it is embedded
			content = get(t, name, "").Body.Bytes()
		}
		if got := sha256.Sum256(content); hex.EncodeToString(got[:]) != want {
			t.Errorf("%s differs from swagger-ui/SHA256SUMS: run tools/build-viewer.sh", name)
		}
	}
}

func get(t *testing.T, name, acceptEncoding string, headers ...string) *httptest.ResponseRecorder {
	t.Helper()
	w, r := httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/docs/"+name, nil)
	r.Header.Set("Accept-Encoding", acceptEncoding)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	file := viewer.Files[name]
	if file == nil {
		t.Fatalf("no file %s", name)
	}
	file.ServeHTTP(w, r)
	return w
}

// The page refers to files that there are, and to none of another host.
func TestPageIsComplete(t *testing.T) {
	w := httptest.NewRecorder()
	viewer.Page.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/docs", nil))
	page, err := io.ReadAll(w.Body)
	fatal.If(t, err)
	links := regexp.MustCompile(`(?:src|href)="([^"]*)"`).FindAllStringSubmatch(string(page), -1)
	if len(links) < 4 {
		t.Fatalf("links of the page: %v", links)
	}
	for _, link := range links {
		if name, ok := strings.CutPrefix(link[1], "docs/"); ok {
			get(t, name, "gzip")
		} else if link[1] != "openapi.yaml" && link[1] != "data:," {
			t.Errorf("the page refers to %s", link[1])
		}
	}
	if start := get(t, "start.js", "").Body.String(); !strings.Contains(start, `url: "openapi.yaml"`) {
		t.Errorf("start.js does not show openapi.yaml: %s", start)
	}
}

func TestServeFile(t *testing.T) {
	plain, compressed := get(t, "swagger-ui.css", ""), get(t, "swagger-ui.css", "br, gzip")
	if compressed.Header().Get("Content-Encoding") != "gzip" || compressed.Body.Len()*3 > plain.Body.Len() {
		t.Errorf("gzip: %v, %d bytes of %d", compressed.Header(), compressed.Body.Len(), plain.Body.Len())
	}
	if again := get(t, "swagger-ui.css", "", "If-None-Match",
		plain.Header().Get("ETag")); again.Code != http.StatusNotModified || again.Body.Len() > 0 {
		t.Errorf("a second time: %d", again.Code)
	}
}
