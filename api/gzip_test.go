package api_test

import (
	"bytes"
	"compress/gzip"
	"net/http"
	"strings"
	"testing"

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

func wrongSum(zipped string) string {
	bytes := []byte(zipped)
	bytes[len(bytes)-8]++
	return string(bytes)
}

// JSON bodies of every request may come with gzip. They are as large as they are when uncompressed.
func TestGzip(t *testing.T) {
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
			{400, "gzip", body, "The body could not be uncompressed"},
			{400, "gzip", gzipped(t, body)[:20], "The body could not be read"},
			{400, "gzip", gzipped(t, body) + "no second member", "The body could not be uncompressed"},
			{400, "gzip", wrongSum(gzipped(t, body)), "The body could not be uncompressed"},
			{413, "gzip", gzipped(t, body+strings.Repeat(" ", 1000)), ""},
			{415, "br", body, "The Content-Encoding has to be gzip or identity"},
			{415, "gzip, gzip", gzipped(t, gzipped(t, body)), "The Content-Encoding has to be gzip or identity"},
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
	s.want(t, "GET /v1/metric/"+id+"/measures?refresh=true", "", 200, `[["2026-01-02T00:00:00+00:00", 1.0, 1.0]]`)
}
