package api_test

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/klauspost/compress/s2"
	"github.com/klauspost/compress/zstd"

	"github.com/gnocco-db/gnocco"
	"github.com/gnocco-db/gnocco/api"
	"github.com/gnocco-db/gnocco/metricd"
	"github.com/gnocco-db/gnocco/storage/incoming"
	"github.com/gnocco-db/gnocco/storage/index"
	"github.com/gnocco-db/gnocco/tests/conformance/contract"
	"github.com/gnocco-db/gnocco/tests/fatal"
	"github.com/gnocco-db/gnocco/tests/testnode"
)

const sacks = 4

// server is the API over real stores in memory.
type server struct {
	handler http.Handler
	options api.Options
	free    atomic.Uint64 // bytes on the incoming store's disk
}

// newServer starts one. change, if not nil, may alter the options.
func newServer(t testing.TB, change func(*api.Options)) *server {
	t.Helper()
	fs := vfs.NewMem()
	s := new(server)
	s.free.Store(1 << 40)
	registry := prometheus.NewRegistry()
	indexStore, err := index.Open("index", index.Options{FS: fs, SkipDefaults: true})
	check(t, err)
	t.Cleanup(func() { check(t, indexStore.Close()) })
	incomingStore, err := incoming.Open("incoming",
		incoming.Options{FS: fs, Sacks: sacks, FreeSpace: func() (uint64, error) { return s.free.Load(), nil }})
	check(t, err)
	t.Cleanup(func() { check(t, incomingStore.Close()) })
	processor, err := testnode.Workers(metricd.Options{Sacks: sacks, Workers: 2, FS: fs,
		Index: testnode.WorkersIndex{Store: indexStore}}, "sacks", incomingStore)
	check(t, err)
	t.Cleanup(func() { check(t, processor.Close(context.Background())) })
	s.options = api.Options{
		Index: indexStore, Incoming: incomingStore, Archives: testnode.Archives{Metricd: processor}, Sacks: sacks,
		Settings: api.Settings{MaxLimit: 7, Prefix: "/gnocchi", ProxyHeaders: true,
			CORSOrigins: []string{"http://foobar.com"}},
		Registerer: registry, Gatherer: registry,
	}
	s.options.SetNow(func() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC) })
	if change != nil {
		change(&s.options)
	}
	s.handler, err = api.New(s.options)
	check(t, err)
	return s
}

func check(t testing.TB, err error) {
	t.Helper()
	fatal.If(t, err)
}

// call sends a request: "METHOD path", a body ("" for none), and headers as name, value pairs. It is sent as user
// foobar with a JSON body and nothing to say about Accept; an empty value takes a header away.
func (s *server) call(t testing.TB, request, body string, headers ...string) *httptest.ResponseRecorder {
	t.Helper()
	method, path, _ := strings.Cut(request, " ")
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	r.SetBasicAuth("foobar", "")
	r.Header.Set("Content-Type", "application/json")
	for i := 0; i < len(headers); i += 2 {
		if headers[i] == "user" {
			r.SetBasicAuth(headers[i+1], "")
			continue
		}
		if headers[i+1] == "" {
			r.Header.Del(headers[i])
			continue
		}
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	s.handler.ServeHTTP(w, r)
	s.keepsContract(t, r, []byte(body), w)
	return w
}

// openAPI is openapi.yaml, below the prefix that newServer gives.
var openAPI = sync.OnceValues(func() (*contract.Contract, error) { return contract.New(gnocco.OpenAPI, "/gnocchi") })

// keepsContract holds an answer to openapi.yaml.
func (s *server) keepsContract(t testing.TB, r *http.Request, body []byte, w *httptest.ResponseRecorder) {
	t.Helper()
	c, err := openAPI()
	check(t, err)
	if strings.HasPrefix(r.URL.Path, "/debug/") || (s.options.Prefix != "" && s.options.Prefix != "/gnocchi") {
		return
	}
	result := uncompressed(t, w.Header(), w.Body.Bytes())
	if w.Code < 300 {
		body = uncompressed(t, r.Header, body)
	}
	err = c.Check(&contract.Exchange{Method: r.Method, URL: r.URL, Request: r.Header, Body: body,
		Status: w.Code, Answer: w.Header(), Result: result})
	if err != nil {
		t.Errorf("%s %s %.200q: %d %.300q\nopenapi.yaml: %s", r.Method, r.URL, body, w.Code, w.Body, err)
	}
}

func uncompressed(t testing.TB, header http.Header, body []byte) []byte {
	t.Helper()
	var z io.Reader
	var err error
	switch strings.ToLower(header.Get("Content-Encoding")) {
	case "gzip":
		z, err = gzip.NewReader(bytes.NewReader(body))
	case "zstd":
		z, err = zstd.NewReader(bytes.NewReader(body))
	case "deflate", "zlib":
		if z, err = zlib.NewReader(bytes.NewReader(body)); err != nil {
			z, err = flate.NewReader(bytes.NewReader(body)), nil
		}
	case "snappy", "x-snappy-framed":
		plain, notBlock := s2.Decode(nil, body)
		if z = bytes.NewReader(plain); notBlock != nil {
			z = s2.NewReader(bytes.NewReader(body))
		}
	default:
		return body
	}
	check(t, err)
	body, err = io.ReadAll(z)
	check(t, err)
	return body
}

// want checks status and body of a call: body is JSON that has to be equal, or, after "~", a part of the text.
func (s *server) want(t testing.TB, request, body string, status int, want string,
	headers ...string) *httptest.ResponseRecorder {
	t.Helper()
	w := s.call(t, request, body, headers...)
	got := w.Body.String()
	if w.Code != status {
		t.Fatalf("%s %s: status %d, want %d: %s", request, body, w.Code, status, got)
	}
	if part, ok := strings.CutPrefix(want, "~"); ok {
		if !strings.Contains(got, part) {
			t.Fatalf("%s %s: %s\ndoes not contain %s", request, body, got, part)
		}
		return w
	}
	if got != want {
		t.Fatalf("%s %s: %s\nwant %s", request, body, got, want)
	}
	return w
}

// create sends a POST that has to succeed and returns the answer's id.
func (s *server) create(t testing.TB, path, body string, headers ...string) string {
	t.Helper()
	w := s.want(t, "POST "+path, body, http.StatusCreated, "~", headers...)
	var answer struct{ ID string }
	check(t, json.NewDecoder(io.TeeReader(w.Body, io.Discard)).Decode(&answer))
	return answer.ID
}

// policy creates an archive policy with a granularity of a second.
func (s *server) policy(t testing.TB, name string) {
	t.Helper()
	s.create(t, "/v1/archive_policy", `{"name":"`+name+`","definition":[{"granularity":"1 second"}]}`, "user", "admin")
}
