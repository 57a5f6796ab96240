package api_test

import (
	"testing"

	"github.com/klauspost/compress/s2"
	"google.golang.org/protobuf/encoding/protowire"
)

// Pushed counters, by their metadata or their names, get the archive policy of pushed series with the methods of
// counters: an operator's own if there is one.
func TestPushedCountersGetTheirPolicy(t *testing.T) {
	s := newServer(t, nil)
	s.create(t, "/v1/archive_policy", `{"name":"prometheus","back_window":1,"definition":[{"granularity":60}],`+
		`"aggregation_methods":["mean","last"]}`, "user", "admin")
	write := func(body string) {
		t.Helper()
		s.want(t, "POST /api/v1/write", body, 204, "", append([]string{"user", "jd"}, asRemoteWrite...)...)
	}
	var metadata []byte // jobs is a counter, size_total none
	for name, kind := range map[string]uint64{"jobs": 1, "size_total": 2} {
		one := protowire.AppendVarint(protowire.AppendTag(nil, 1, protowire.VarintType), kind)
		one = protowire.AppendBytes(protowire.AppendTag(one, 2, protowire.BytesType), []byte(name))
		metadata = protowire.AppendBytes(protowire.AppendTag(metadata, 3, protowire.BytesType), one)
	}
	write(string(s2.EncodeSnappy(nil, metadata)))
	write(remoteWrite("up 1 1000", "hits_total 1 1000", "wait_bucket 1 1000 le=1", "jobs 1 1000", "size_total 1 1000"))
	for name, policy := range map[string]string{"up": "prometheus", "hits_total": "prometheus-counter",
		"wait_bucket": "prometheus-counter", "jobs": "prometheus-counter", "size_total": "prometheus"} {
		s.want(t, "GET /v1/metric?labels.__name__="+name, "", 200, `~"archive_policy": {"name": "`+policy+`"`, "user", "jd")
	}
	s.want(t, "GET /v1/archive_policy/prometheus-counter", "", 200, `{"name": "prometheus-counter", "back_window": 1, `+
		`"definition": [{"timespan": null, "granularity": "0:01:00", "points": null}], `+
		`"aggregation_methods": ["mean", "last", "increase", "resets"]}`)
}
