package main_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/gnocco-db/gnocco/internal/version"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

var writeFormats = flag.Bool("write-formats", false,
	"make the data folder and the answers of this version, for later ones to open")

// asks are the requests whose answers a later version must give as this one does.
var asks = []string{
	"/v1/archive_policy", "/v1/archive_policy_rule", "/v1/resource_type/server", "/v1/resource/server?sort=id:asc",
	"/v1/resource/server/5a301761-0000-4000-8000-000000000001/history?sort=revision_start:asc",
	"/v1/resource/server/5a301761-0000-4000-8000-000000000001/metric/load/measures",
	"/v1/resource/server/5a301761-0000-4000-8000-000000000001/metric/load/measures?aggregation=max&granularity=60",
	"/v1/resource/server/5a301761-0000-4000-8000-000000000001/metric/load/measures?aggregation=95pct",
	"/v1/resource/server/5a301761-0000-4000-8000-000000000001/metric/load/measures?aggregation=std",
}

// answers returns what a server says to asks.
func answers(t *testing.T, s *served) string {
	t.Helper()
	var b strings.Builder
	for _, path := range asks {
		fmt.Fprintf(&b, "%s\n%s\n", path, formatRequest(t, http.MethodGet, s.url+path, ""))
	}
	return b.String()
}

func formatRequest(t *testing.T, method, url, body string) string {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	fatal.If(t, err)
	request.SetBasicAuth("admin", "")
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	fatal.If(t, err)
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode >= 300 {
		t.Fatalf("%s %s: %d, %v: %s", method, url, response.StatusCode, err, text)
	}
	return string(text)
}

// A data folder of each version opens, gives the answers that it gave then, and is sound.
func TestFoldersOfOtherVersions(t *testing.T) {
	t.Parallel()
	if *writeFormats {
		writeFormat(t)
	}
	folders, err := filepath.Glob("testdata/formats/*.tar.gz")
	if err != nil || len(folders) == 0 {
		t.Fatalf("no folder of a version: %v", err)
	}
	for _, packed := range folders {
		data := filepath.Join(t.TempDir(), "data")
		unpack(t, packed, data)
		want, err := os.ReadFile(strings.TrimSuffix(packed, ".tar.gz") + ".txt")
		fatal.If(t, err)
		s := serve(t, "--data", data)
		if got := answers(t, s); got != string(want) {
			t.Errorf("%s: got\n%s, want\n%s", packed, got, want)
		}
		s.end(syscall.SIGINT)
		if out, errs, status := run(t, "", "fsck", "--data", data); status != 0 {
			t.Errorf("%s: fsck ends with %d\n%s%s", packed, status, out, errs)
		}
	}
}

// writeFormat makes the folder of this version.
func writeFormat(t *testing.T) {
	t.Helper()
	data := filepath.Join(t.TempDir(), "data")
	const id = "5a301761-0000-4000-8000-000000000001"
	s := serve(t, "--data", data, "--sacks", "2")
	post := func(path, body string) { formatRequest(t, http.MethodPost, s.url+path, body) }
	post("/v1/archive_policy",
		`{"name": "every", "back_window": 2, "definition": [{"granularity": "1m", "points": 100}, {"granularity": "1h", "points": 100}],
		"aggregation_methods": ["mean", "sum", "count", "min", "max", "std", "first", "last", "median", "95pct", "rate:mean"]}`)
	post("/v1/resource_type",
		`{"name": "server", "attributes": {"host": {"type": "string", "required": true, "max_length": 100}, "cores": {"type": "number", "required": false}}}`)
	post("/v1/resource/server", `{"id": "`+id+
		`", "host": "a", "cores": 4, "started_at": "2026-02-14T00:00:00", "metrics": {"load": {"archive_policy_name": "every"}}}`)
	for round := range 2 {
		var b strings.Builder
		for i := range 300 {
			fmt.Fprintf(&b, `,{"timestamp": "2026-02-14T%02d:%02d:%02d", "value": %d.%d}`, 10+round, i/5,
				i%5*11, i*i%97, i%10)
		}
		post("/v1/resource/server/"+id+"/metric/load/measures", "["+b.String()[1:]+"]")
		formatRequest(t, http.MethodPatch, s.url+"/v1/resource/server/"+id, fmt.Sprintf(`{"host": "h%d"}`, round))
		formatRequest(t, http.MethodGet, s.url+"/v1/resource/server/"+id+"/metric/load/measures?refresh=true", "")
		s.end(syscall.SIGINT)
		s = serve(t, "--data", data)
	}
	name := "testdata/formats/" + version.Number
	fatal.If(t, os.WriteFile(name+".txt", []byte(answers(t, s)), 0o600))
	s.end(syscall.SIGINT)
	var b bytes.Buffer
	compressor, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	fatal.If(t, err)
	archive := tar.NewWriter(compressor)
	if err := os.RemoveAll(filepath.Join(data, "reserve")); err != nil { // made anew
		t.Fatal(err)
	}
	fatal.If(t, errors.Join(archive.AddFS(os.DirFS(data)), archive.Close(), compressor.Close(),
		os.WriteFile(name+".tar.gz", b.Bytes(), 0o600)))
}

func unpack(t *testing.T, from, to string) {
	t.Helper()
	file, err := os.Open(from)
	fatal.If(t, err)
	defer func() { _ = file.Close() }()
	plain, err := gzip.NewReader(file)
	fatal.If(t, err)
	for archive := tar.NewReader(plain); ; {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		fatal.If(t, err)
		path := filepath.Join(to, filepath.FromSlash(header.Name))
		if header.Typeflag == tar.TypeDir {
			err = os.MkdirAll(path, 0o750)
		} else {
			var content []byte
			content, err = io.ReadAll(archive)
			if err == nil {
				err = errors.Join(os.MkdirAll(filepath.Dir(path), 0o750), os.WriteFile(path, content, 0o600))
			}
		}
		fatal.If(t, err)
	}
}
