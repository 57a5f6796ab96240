package api_test

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"net/http"
	"strings"
	"testing"

	"github.com/klauspost/compress/s2"
	"github.com/klauspost/compress/zstd"

	"github.com/gnocco-db/gnocco/api"
)

func gzipped(t testing.TB, text string) string {
	t.Helper()
	var zipped bytes.Buffer
	zip := gzip.NewWriter(&zipped)
	_, err := zip.Write([]byte(text))
	check(t, err)
	check(t, zip.Close())
	return zipped.String()
}

func zstandard(t testing.TB, text string) string {
	t.Helper()
	encoder, err := zstd.NewWriter(nil, zstd.WithEncoderCRC(true))
	check(t, err)
	return string(encoder.EncodeAll([]byte(text), nil))
}

func deflated(t testing.TB, text string) string {
	t.Helper()
	var packed bytes.Buffer
	w := zlib.NewWriter(&packed)
	_, err := w.Write([]byte(text))
	check(t, err)
	check(t, w.Close())
	return packed.String()
}

// framed is text in frames of snappy.
func framed(t testing.TB, text string) string {
	t.Helper()
	var packed bytes.Buffer
	w := s2.NewWriter(&packed, s2.WriterSnappyCompat())
	_, err := w.Write([]byte(text))
	check(t, err)
	check(t, w.Close())
	return packed.String()
}

// changed adds 1 to a byte, counted from the end.
func changed(text string, fromEnd int) string {
	bytes := []byte(text)
	bytes[len(bytes)-fromEnd]++
	return string(bytes)
}

// JSON bodies of every request may come with gzip or zstd. They are as large as they are when uncompressed.
func TestCompressedBodies(t *testing.T) {
	s := newServer(t, func(o *api.Options) { o.MaxBodyBytes = 1000 })
	s.policy(t, "p")
	id := s.create(t, "/v1/metric", `{"archive_policy_name":"p"}`)
	s.create(t, "/v1/resource/generic", `{"id":"r","metrics":{"m":{"archive_policy_name":"p"}}}`)
	f := func(status int, request, body string, headers ...string) {
		t.Helper()
		bad := body[:len(body)-1] + "!"
		for _, c := range []struct {
			status         int
			encoding, body string
			want           string
		}{
			{status, "gzip", gzipped(t, body), ""},
			{status, "GZIP", gzipped(t, body), ""},
			{400, "gzip", gzipped(t, bad), "Unable to decode body"},
			{400, "gzip", body, "The body could not be uncompressed by gzip: invalid header"},
			{400, "gzip", gzipped(t, body)[:20], "The body could not be uncompressed by gzip: unexpected EOF"},
			{400, "gzip", gzipped(t, body) + "no second member", "The body could not be uncompressed by gzip: invalid header"},
			{400, "gzip", changed(gzipped(t, body), 8), "The body could not be uncompressed by gzip: invalid checksum"},
			{413, "gzip", gzipped(t, body+strings.Repeat(" ", 1000)), ""},
			{status, "zstd", zstandard(t, body), ""},
			{400, "zstd", zstandard(t, bad), "Unable to decode body"},
			{400, "zstd", body, "The body could not be uncompressed by zstd: invalid input: magic number mismatch"},
			{400, "zstd", zstandard(t, body)[:20], "The body could not be uncompressed by zstd: unexpected EOF"},
			{400, "zstd", changed(zstandard(t, body), 1), "The body could not be uncompressed by zstd: CRC check failed"},
			{413, "zstd", zstandard(t, body+strings.Repeat(" ", 1000)), ""},
			{400, "zstd", "\x28\xb5\x2f\xfd\x00\x70" + strings.Repeat(" ", 20), "a window of 16777216 bytes, of 8388608 at most"},
			{status, "deflate", deflated(t, body), ""},
			{status, "zlib", deflated(t, body), ""},
			{status, "deflate", deflated(t, body)[2:], ""}, // without zlib's header
			{400, "deflate", deflated(t, body)[:20], "The body could not be uncompressed by deflate: unexpected EOF"},
			{400, "zlib", changed(deflated(t, body), 1), "The body could not be uncompressed by zlib: invalid checksum"},
			{413, "deflate", deflated(t, body+strings.Repeat(" ", 1000)), ""},
			{status, "snappy", string(s2.EncodeSnappy(nil, []byte(body))), ""},
			{status, "snappy", framed(t, body), ""},
			{status, "x-snappy-framed", framed(t, body), ""},
			{400, "snappy", body, "The body could not be uncompressed by snappy"},
			{400, "snappy", framed(t, body)[:20], "The body could not be uncompressed by snappy"},
			{400, "snappy", string(s2.EncodeSnappy(nil, []byte(body)))[:10], "The body could not be uncompressed by snappy"},
			{400, "x-snappy-framed", changed(framed(t, body), 1), "The body could not be uncompressed by x-snappy-framed"},
			{413, "snappy", string(s2.EncodeSnappy(nil, []byte(body+strings.Repeat(" ", 1000)))), ""},
			{413, "snappy", framed(t, body+strings.Repeat(" ", 1000)), ""},
			{413, "snappy", string(s2.EncodeSnappy(nil, make([]byte, 33<<20)))[:900], ""},
			{415, "lz4", body, "The Content-Encoding has to be gzip, zstd, deflate, zlib, snappy, x-snappy-framed or identity"},
			{415, "br", body, "The Content-Encoding has to be gzip, zstd, deflate"},
			{415, "gzip, gzip", gzipped(t, gzipped(t, body)), "The Content-Encoding has to be gzip, zstd, deflate"},
		} {
			w := s.call(t, request, c.body,
				append([]string{"Content-Encoding", c.encoding, "Accept", wantsJSON}, headers...)...)
			if w.Code != c.status || !strings.Contains(w.Body.String(), c.want) {
				t.Errorf("%s with %s %.10q: %d %s, want %d %s", request, c.encoding, c.body, w.Code, w.Body, c.status,
					c.want)
			}
		}
	}
	const measures = `[{"timestamp":"2026-01-02","value":1}]`
	f(http.StatusAccepted, "POST /v1/metric/"+id+"/measures", measures)
	f(http.StatusAccepted, "POST /v1/batch/metrics/measures", `{"`+id+`":`+measures+`}`)
	f(http.StatusAccepted, "POST /v1/batch/resources/metrics/measures", `{"r":{"m":`+measures+`}}`)
	f(http.StatusOK, "POST /v1/aggregates", `{"operations":"(metric `+id+` mean)"}`)
	f(http.StatusOK, "POST /v1/search/resource/generic", `{"=":{"id":"r"}}`)
	f(http.StatusOK, "PATCH /v1/resource/generic/r", `{"metrics":{"m":{"archive_policy_name":"p"}}}`)
	const form = "application/x-www-form-urlencoded"
	for encoding, compress := range map[string]func(testing.TB, string) string{"gzip": gzipped, "zstd": zstandard,
		"deflate": deflated, "x-snappy-framed": framed} {
		headers := []string{"Content-Type", form, "Content-Encoding", encoding}
		s.want(t, "POST /api/v1/query", compress(t, "query=1%2B1"), 200, "~\"2\"", headers...)
		s.want(t, "POST /api/v1/query", "query=1", 400, "~could not be uncompressed by "+encoding, headers...)
		s.want(t, "POST /query", compress(t, "q=CREATE DATABASE d"), 200, "~results", headers...)
		s.want(t, "POST /query", "q=CREATE DATABASE d", 400, "~could not be uncompressed by "+encoding, headers...)
		s.want(t, "POST /write?db=d", compress(t, "m,a=b f=1"), 204, "~", "Content-Encoding", encoding)
		s.want(t, "POST /write?db=d", "", 400, "~could not be uncompressed by "+encoding, "Content-Encoding", encoding)
		plain, err := s2.Decode(nil, []byte(remoteWrite("up 1 60000 encoding="+encoding)))
		check(t, err)
		headers = []string{"Content-Type", "application/x-protobuf", "Content-Encoding", encoding}
		s.want(t, "POST /api/v1/write", compress(t, string(plain)), 204, "~", headers...)
		s.want(t, "POST /api/v1/write", string(plain), 400, "~could not be uncompressed by "+encoding, headers...)
		s.want(t, "POST /api/v1/write", compress(t, ""), 415, "~snappy", "Content-Type",
			"application/x-protobuf;proto=io.prometheus.write.v2.Request", "Content-Encoding", encoding)
		s.refreshAll(t, "admin")
		s.want(t, "GET /api/v1/query?time=60&query=up%7Bencoding=%22"+encoding+"%22%7D", "", 200, `~[60,"1"]`)
	}
	s.want(t, "POST /api/v1/query", "query=1", 415, "~has to be gzip", "Content-Type", form, "Content-Encoding", "br")
	s.want(t, "GET /v1/metric/"+id+"/measures?refresh=true", "", 200, `[["2026-01-02T00:00:00+00:00", 1.0, 1.0]]`)
}
