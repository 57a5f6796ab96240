package api_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/klauspost/compress/s2"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/gnocco-db/gnocco/api"
)

// remoteWrite encodes series, each "name value millisecond label=value,…"; name is "-" for none.
func remoteWrite(series ...string) string {
	var message []byte
	nested := func(number protowire.Number, content []byte) []byte {
		return protowire.AppendBytes(protowire.AppendTag(nil, number, protowire.BytesType), content)
	}
	for _, text := range series {
		var name, labels string
		var value float64
		var at uint64
		fmt.Sscan(text, &name, &value, &at, &labels)
		var one []byte
		if name != "-" {
			labels = "__name__=" + name + "," + labels
		}
		for pair := range strings.SplitSeq(labels, ",") {
			label, text, _ := strings.Cut(pair, "=")
			one = append(one, nested(1, append(nested(1, []byte(label)), nested(2, []byte(text))...))...)
		}
		measure := protowire.AppendFixed64(protowire.AppendTag(nil, 1, protowire.Fixed64Type), floatBits(value))
		measure = protowire.AppendVarint(protowire.AppendTag(measure, 2, protowire.VarintType), at)
		message = append(message, nested(1, append(one, nested(2, measure)...))...)
	}
	return string(s2.EncodeSnappy(nil, message))
}

var asRemoteWrite = []string{"Content-Type", "application/x-protobuf", "Content-Encoding", "snappy"}

// rule makes an archive policy that all metrics get.
func (s *server) rule(t testing.TB) {
	t.Helper()
	s.policy(t, "p")
	s.want(t, "POST /v1/archive_policy_rule", `{"name":"all","metric_pattern":"*","archive_policy_name":"p"}`, 201,
		"~", "user", "admin")
}

func TestPrometheus(t *testing.T) {
	s := newServer(t, nil)
	s.rule(t)
	write := func(user string, status int, part string, series ...string) {
		t.Helper()
		s.want(t, "POST /v1/prometheus/write", remoteWrite(series...), status, "~"+part,
			append([]string{"user", user, "Accept", wantsJSON}, asRemoteWrite...)...)
	}
	measures := func(user, path, want string) {
		t.Helper()
		s.want(t, "GET /v1/resource/"+path+"/measures?refresh=true", "", 200, want, "user", user)
	}
	// A user who may not create resource types cannot be the first.
	write("jd", 403, "", "up 1 1000 job=j,instance=h:9")
	s.want(t, "GET /v1/resource_type/prometheus", "", 404, "~")

	write("admin", 202, "", "up 1 1000 job=j,instance=h:9,zone=a", "up 2 1000 job=j,instance=h:9,zone=b",
		"load 3 2500 job=j,instance=h:9", "up 4 1000")
	measures("admin", "prometheus/j@h:9/metric/up", `[["1970-01-01T00:00:01+00:00", 1.0, 2.0]]`)
	measures("admin", "prometheus/j@h:9/metric/load", `[["1970-01-01T00:00:02+00:00", 1.0, 3.0]]`)
	measures("admin", "prometheus/none@none/metric/up", `[["1970-01-01T00:00:01+00:00", 1.0, 4.0]]`)
	s.want(t, "GET /v1/resource/prometheus/j@h:9", "", 200, `~"instance": "h:9"`, "user", "admin")

	// The same again, known by now, and a new metric beside it.
	write("admin", 202, "", "up 5 5000 job=j,instance=h:9", "new 6 5000 job=j,instance=h:9")
	measures("admin", "prometheus/j@h:9/metric/up",
		`[["1970-01-01T00:00:01+00:00", 1.0, 2.0], ["1970-01-01T00:00:05+00:00", 1.0, 5.0]]`)
	measures("admin", "prometheus/j@h:9/metric/new", `[["1970-01-01T00:00:05+00:00", 1.0, 6.0]]`)

	// A deleted metric is created anew, though it was known.
	s.want(t, "DELETE /v1/resource/prometheus/j@h:9/metric/up", "", 204, "", "user", "admin")
	write("admin", 202, "", "up 7 7000 job=j,instance=h:9")
	measures("admin", "prometheus/j@h:9/metric/up", `[["1970-01-01T00:00:07+00:00", 1.0, 7.0]]`)
	s.want(t, "DELETE /v1/resource/prometheus/j@h:9", "", 204, "", "user", "admin")
	write("admin", 202, "", "up 8 8000 job=j,instance=h:9")
	measures("admin", "prometheus/j@h:9/metric/up", `[["1970-01-01T00:00:08+00:00", 1.0, 8.0]]`)

	// The type is there now; another user's resource of the same name is another one.
	write("jd", 202, "", "up 9 9000 job=j,instance=h:9")
	measures("jd", "prometheus/j@h:9/metric/up", `[["1970-01-01T00:00:09+00:00", 1.0, 9.0]]`)
	measures("admin", "prometheus/j@h:9/metric/up", `[["1970-01-01T00:00:08+00:00", 1.0, 8.0]]`)

	// A resource of another type stands in the way, so the whole request is refused.
	s.want(t, "POST /v1/resource/generic", `{"id":"j@other"}`, 201, "~", "user", "jd")
	write("jd", 409, `"cause": "Resource already exists"`, "up 10 10000 job=j,instance=h:9",
		"up 1 1000 job=j,instance=other", "up 1 1000 job=j,instance=third")
	measures("jd", "prometheus/j@h:9/metric/up", `[["1970-01-01T00:00:09+00:00", 1.0, 9.0]]`)
	s.want(t, "GET /v1/resource/prometheus/j@third", "", 404, "~", "user", "jd")
	write("jd", 202, "")
}

func TestPrometheusRefuses(t *testing.T) {
	s := newServer(t, nil)
	f := func(status int, part, body string, headers ...string) {
		t.Helper()
		s.want(t, "POST /v1/prometheus/write", body, status, "~"+part,
			append(append([]string{"user", "admin", "Accept", wantsJSON}, asRemoteWrite...), headers...)...)
	}
	up := remoteWrite("up 1 1000 job=j")
	f(400, "no archive policy rule found matching the metric name up", up)
	s.want(t, "GET /v1/resource/generic", "", 200, "[]", "user", "admin")
	f(400, `{"cause": "Invalid input", "reason": "prometheus: snappy`, "hello")
	f(400, "snappy", "")
	f(400, "unexpected EOF", string(s2.EncodeSnappy(nil, []byte{0x0a})))
	f(413, "when uncompressed", string(s2.EncodeSnappy(nil, make([]byte, 32<<20+1))))
	f(415, "", up, "Content-Type", "application/json")
	f(415, "", up, "Content-Type", "application/x-protobuf;proto=io.prometheus.write.v2.Request")
	f(415, "", up, "Content-Encoding", "br")
	f(400, "could not be uncompressed by zstd", up, "Content-Encoding", "zstd")
	f(401, "", up, "Authorization", "")
	s.rule(t)
	f(400, "label __name__ is missing", remoteWrite("- 1 1000 job=j"))
	f(400, "not what resource type prometheus has for job", remoteWrite("up 1 1000 job="+strings.Repeat("j", 513)))
	f(400, "name must not be longer", remoteWrite(strings.Repeat("u", 256)+" 1 1000"))
	f(400, "1 of 1 sample refused, the others stored: 1 from before 1970 or after", remoteWrite("up 1 18446744073709551615"))
	f(202, "", up, "Content-Type", "application/x-protobuf;proto=prometheus.WriteRequest")
	f(202, "", up, "Content-Type", "", "Content-Encoding", "")
}

// Many senders start at once, with the same series: each metric is created once, and no measure is lost.
func TestPrometheusConcurrently(t *testing.T) {
	s := newServer(t, func(o *api.Options) { o.KnownMetrics = 3 })
	s.rule(t)
	const senders, series = 8, 20
	var group sync.WaitGroup
	for sender := range senders {
		group.Go(func() {
			var all []string
			for i := range series {
				all = append(all, fmt.Sprintf("m%d 1 %d job=j,instance=h%d", i, 1000+sender, i%5))
			}
			if w := s.call(t, "POST /v1/prometheus/write", remoteWrite(all...),
				append([]string{"user", "admin"}, asRemoteWrite...)...); w.Code != http.StatusAccepted {
				t.Errorf("status %d: %s", w.Code, w.Body)
			}
		})
	}
	group.Wait()
	for i := range series {
		path := fmt.Sprintf("/v1/resource/prometheus/j@h%d/metric/m%d/measures?refresh=true&aggregation=count", i%5, i)
		s.want(t, "GET "+path, "", 200, fmt.Sprintf(`[["1970-01-01T00:00:01+00:00", 1.0, %d.0]]`, senders), "user",
			"admin")
	}
}

// Prometheus puts each measure into a series of its own. All measures of one series count. Of several series that
// Gnocchi's mapping makes one metric of, the last one counts.
func TestPrometheusSeriesSeveralTimes(t *testing.T) {
	s := newServer(t, nil)
	s.rule(t)
	s.want(t, "POST /v1/prometheus/write", remoteWrite(
		"up 1 60000 job=j,instance=i,cpu=0", "up 2 60000 job=j,instance=i,cpu=1",
		"up 3 120000 job=j,instance=i,cpu=0", "up 4 120000 instance=i,job=j,cpu=1"), 202, "~",
		append([]string{"user", "admin"}, asRemoteWrite...)...)
	s.want(t, "GET /v1/resource/prometheus/j@i/metric/up/measures?refresh=true", "", 200,
		`[["1970-01-01T00:01:00+00:00", 1.0, 2.0], ["1970-01-01T00:02:00+00:00", 1.0, 4.0]]`, "user", "admin")
}
