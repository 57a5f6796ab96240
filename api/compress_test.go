package api_test

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// An answer of text that does not fit a packet is compressed for a client that accepts it, and its content is the same.
// Other answers and other clients see no difference.
func TestLargeAnswersAreCompressed(t *testing.T) {
	script, _ := readBadInput(t)
	b := newBadInputServer(t, script)
	var series, measures []string
	for i := range 60 {
		for _, made := range [][2]string{
			{"/v1/archive_policy", `{"name":"p#","definition":[{"granularity":60,"points":100}]}`},
			{"/v1/archive_policy_rule", `{"name":"r#","archive_policy_name":"p0","metric_pattern":"q#.*"}`},
			{"/v1/resource_type", `{"name":"t#","attributes":{"a":{"type":"string"}}}`},
			{"/v1/resource/host", `{"id":"h#","rack":"r1","metrics":{"cpu":{"archive_policy_name":"p0"}}}`},
			{"/v1/boards", `{"name":"b#","panels":[{"title":"a","view":"explore"}]}`},
		} {
			b.create(t, made[0], strings.ReplaceAll(made[1], "#", fmt.Sprint(i)), "user", "admin")
		}
		series = append(series, fmt.Sprintf("up %d 1767323000000 job=j%d,instance=i%d,l%d=v", i, i, i, i))
		measures = append(measures, fmt.Sprintf(`{"timestamp":%d,"value":%d}`, 1767310000+60*i, i))
	}
	b.want(t, "POST /api/v1/write", remoteWrite(series...), 204, "", append(asRemoteWrite, "user", "admin")...)
	b.want(t, "POST /v1/metric/"+b.names["metric"]+"/measures", "["+strings.Join(measures, ",")+"]", 202, "", "user", "admin")
	b.refreshAll(t, "admin")

	c, err := openAPI()
	check(t, err)
	large := map[string]bool{}
	for _, o := range c.Operations() {
		if o.Method != http.MethodGet {
			continue
		}
		ask := func(accepted string) ([]byte, http.Header) {
			w := b.call(t, "GET "+b.path(o), "", "user", "admin", "Accept", "*/*", "Accept-Encoding", accepted)
			return uncompressed(t, w.Header(), w.Body.Bytes()), w.Header()
		}
		plain, header := ask("")
		encoding, kind := header.Get("Content-Encoding"), header.Get("Content-Type")
		text := strings.HasPrefix(kind, "text/") || strings.HasPrefix(kind, "application/json")
		if encoding != "" && encoding != "snappy" {
			t.Errorf("%s: %s for a client that does not ask", o.Path, encoding)
		}
		changes := o.Path == "/v1/queries/costs" // some answers have the time of day, or what was asked before
		for range 3 {
			again, _ := ask("identity;q=1, *;q=0")
			changes = changes || !bytes.Equal(plain, again)
		}
		for accepted, want := range map[string]string{"gzip": "gzip", "zstd": "zstd", "deflate, br": "", "gzip, zstd": "gzip",
			"gzip;q=0.1, zstd;q=0.9": "zstd", "gzip;q=0": ""} {
			got, header := ask(accepted)
			if !changes && !bytes.Equal(got, plain) {
				t.Errorf("%s: another answer with %q", o.Path, accepted)
			}
			encoding := header.Get("Content-Encoding")
			if len(plain) < 1400-400 && encoding != "" && !strings.HasPrefix(o.Path, "/ui") && !strings.HasPrefix(o.Path, "/docs") {
				t.Errorf("%s: %d bytes by %s", o.Path, len(plain), encoding)
			}
			if len(plain) > 1400+400 && text {
				large[o.Path] = true
				if encoding != want && !(o.Path == "/metrics" && encoding == "gzip") { // Prometheus' client packs it itself
					t.Errorf("%s: %d bytes by %q, want %q for %q", o.Path, len(plain), encoding, want, accepted)
				}
			}
			if encoding != "" && header.Get("Vary") == "" {
				t.Errorf("%s: no Vary", o.Path)
			}
		}
	}
	for _, path := range []string{"/v1/metric", "/v1/archive_policy", "/v1/archive_policy_rule", "/v1/resource_type",
		"/v1/resource/{type}", "/v1/metric/{id}/measures", "/v1/boards", "/api/v1/series", "/api/v1/query", "/metrics"} {
		if !large[path] {
			t.Errorf("no large answer of %s", path)
		}
	}
	t.Logf("%d routes with large answers", len(large))
}
