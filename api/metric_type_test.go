package api_test

import (
	"testing"

	"github.com/klauspost/compress/s2"
	"github.com/prometheus/client_golang/prometheus"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/gnocco-db/gnocco/api"
)

// A type is what a client set, else what senders said, before and after a restart, else a guess by the name.
func TestTypesOfMetrics(t *testing.T) {
	s := newServer(t, nil)
	s.policy(t, "low")
	id := s.create(t, "/v1/metric", `{"name": "jobs", "archive_policy_name": "low", "type": "counter"}`)
	s.want(t, "GET /v1/metric/"+id, "", 200, `~"type": "counter"`)
	s.want(t, "GET /api/v1/metadata", "", 200, `~"jobs":[{"type":"counter","help":"","unit":""}]`)
	s.want(t, "PATCH /v1/metric/"+id+"?dry_run=true", `{"type": "gauge"}`, 200, `~"type": "gauge"`, "user", "admin")
	s.want(t, "GET /v1/metric", "", 200, `~"type": "counter"`)
	s.want(t, "PATCH /v1/metric/"+id, `{"type": "gauge"}`, 200, `~"type": "gauge"`, "user", "admin")
	s.want(t, "GET /v1/metric/"+id, "", 200, `~"type": "gauge"`)
	s.want(t, "GET /api/v1/metadata", "", 200, `~"jobs":[{"type":"gauge","help":"","unit":""}]`)
	s.want(t, "PATCH /v1/metric/"+id, `{"type": "unknown"}`, 200, `~"name": "jobs"`, "user", "admin")
	s.want(t, "GET /api/v1/metadata", "", 200, `~"jobs":[{"type":"unknown","help":"","unit":""}]`)
	s.want(t, "PATCH /v1/metric/"+id, `{"type": "histogram", "archive_policy_name": "low"}`, 200,
		`~"type": "histogram"`, "user", "admin")

	cpu := s.create(t, "/v1/metric", `{"name": "cpu", "unit": "ns", "archive_policy_name": "low"}`)
	s.want(t, "GET /v1/metric/"+cpu, "", 200, `~"type_guess": "counter"`)
	s.want(t, "GET /api/v1/metadata?metric=cpu", "", 200, `~[{"type":"counter","help":"","unit":"ns"}]`)

	one := protowire.AppendVarint(protowire.AppendTag(nil, 1, protowire.VarintType), 2) // a gauge
	one = protowire.AppendBytes(protowire.AppendTag(one, 2, protowire.BytesType), []byte("size_total"))
	sent := protowire.AppendBytes(protowire.AppendTag(nil, 3, protowire.BytesType), one)
	write := append([]string{"user", "jd"}, asRemoteWrite...)
	s.want(t, "POST /api/v1/write", string(s2.EncodeSnappy(nil, sent)), 204, "", write...)
	s.want(t, "POST /api/v1/write", remoteWrite("size_total 1 1000", "hits_total 1 1000"), 204, "", write...)
	for range 2 {
		s.want(t, "GET /v1/metric?name=size_total", "", 200, `~"type": "gauge"`, "user", "jd")
		s.want(t, "GET /v1/metric?name=hits_total", "", 200, `~"type_guess": "counter"`, "user", "jd")
		s.want(t, "GET /api/v1/series?ids=true&match[]=size_total", "", 200, `~"metric_type":"gauge"`, "user", "jd")
		s.want(t, "GET /api/v1/series?ids=true&match[]=hits_total", "", 200, `~"metric_type_guess":"counter"`, "user", "jd")
		s.want(t, "GET /api/v1/metadata?metric=size_total", "", 200, `~"type":"gauge"`, "user", "jd")
		registry := prometheus.NewRegistry() // as after a start
		s.options.Registerer, s.options.Gatherer = registry, registry
		var err error
		s.handler, err = api.New(s.options)
		check(t, err)
	}
}
