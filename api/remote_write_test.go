package api_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/s2"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/prompb"
	writev2 "github.com/prometheus/prometheus/prompb/io/prometheus/write/v2"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/gnocco-db/gnocco/api"
	"github.com/gnocco-db/gnocco/api/auth"
)

// Each set of labels is a metric of its own, found by its labels and shown with them.
func TestRemoteWriteKeepsLabels(t *testing.T) {
	s := newServer(t, nil)
	write := func(user string, status int, part string, series ...string) {
		t.Helper()
		s.want(t, "POST /api/v1/write", remoteWrite(series...), status, "~"+part,
			append([]string{"user", user}, asRemoteWrite...)...)
	}
	query := func(user, expr, want string) {
		t.Helper()
		s.want(t, "GET /api/v1/query?time=100&query="+expr, "", 200, "~"+want, "user", user)
	}
	write("jd", 204, "", "up 1 60000 job=j,instance=h:9,zone=a", "up 2 60000 job=j,instance=h:9,zone=b",
		"up 3 90000 job=j,zone=b,instance=h:9", "a/b:c 7 60000",
		"odd 8 60000 unit=x,metric_id=y,resource_id=z,archive_policy=q,resource_type=r,original_resource_id=o")
	var metrics []struct {
		ID     string
		Name   string
		Labels map[string]string
	}
	w := s.want(t, "GET /v1/metric?sort=name", "", 200, `~"archive_policy": {"name": "prometheus"`, "user", "jd")
	check(t, json.Unmarshal(w.Body.Bytes(), &metrics))
	if len(metrics) != 4 {
		t.Fatalf("%s", w.Body)
	}
	for _, m := range metrics {
		s.want(t, "GET /v1/metric/"+m.ID+"/measures?refresh=true", "", 200, "~1970", "user", "jd")
		if m.Labels["__name__"] != m.Name || m.Name == "up" && m.Labels["job"] != "j" {
			t.Errorf("%+v", m)
		}
	}
	s.want(t, "GET /v1/metric/"+metrics[3].ID, "", 200, `~"resource": null`, "user", "jd")
	query("jd", `up{zone="a"}`, `"metric":{"__name__":"up","instance":"h:9","job":"j","zone":"a"},"value":[100,"1"]`)
	query("jd", `up{zone="b"}`, `"value":[100,"3"]`)
	query("jd", `sum(count_over_time(up[1m]))`, `[100,"3"]`)
	query("jd", `{"a/b:c"}`, `"metric":{"__name__":"a/b:c"}`)
	const odd = `"metric":{"__name__":"odd","archive_policy":"q","metric_id":"y","original_resource_id":"o","resource_id":"z","resource_type":"r","unit":"x"}`
	for _, matcher := range []string{`unit="x"`, `metric_id="y"`, `metric_id=~"y|w"`, `resource_id="z"`,
		`archive_policy="q"`, `resource_type="r"`, `original_resource_id="o"`, `unit!~"w",__name__=~".%2B"`,
		`__name__="odd"`} {
		query("jd", "{"+strings.ReplaceAll(matcher, "|", "%7C")+`,__name__!~"up%7Ca.*"}`, odd)
	}
	query("jd", `up{archive_policy="prometheus",zone="a"}`, `"1"`)
	query("jd", `up{metric_id="`+metrics[0].ID+`"}`, `"result":[]`)
	s.want(t, "GET /api/v1/label/metric_id/values", "", 200, `~"y"`, "user", "jd")
	s.want(t, "GET /api/v1/label/zone/values", "", 200, `{"status":"success","data":["a","b"]}`, "user", "jd")
	s.want(t, "GET /api/v1/labels?match[]=up", "", 200,
		`{"status":"success","data":["__name__","instance","job","zone"]}`, "user", "jd")
	s.want(t, "GET /api/v1/status/tsdb", "", 200, `~"seriesCountByLabelValuePair":[{"name":"instance=h:9","value":2}`,
		"user", "jd")

	// The same labels of another user are another metric, and nobody sees both but by chance.
	write("other", 204, "", "up 9 60000 job=j,instance=h:9,zone=a")
	s.refreshAll(t, "other")
	query("other", "up",
		`"result":[{"metric":{"__name__":"up","instance":"h:9","job":"j","zone":"a"},"value":[100,"9"]}]`)

	// A deleted series is another metric when it comes again.
	for _, m := range metrics {
		if m.Labels["zone"] == "a" {
			s.want(t, "DELETE /v1/metric/"+m.ID, "", 204, "", "user", "jd")
		}
	}
	query("jd", `up{zone="a"}`, `"result":[]`)
	write("jd", 204, "", "up 5 60000 job=j,instance=h:9,zone=a")
	s.refreshAll(t, "jd")
	query("jd", `up{zone="a"}`, `"value":[100,"5"]`)
}

// refreshAll waits until all measures of a user's metrics are processed.
func (s *server) refreshAll(t *testing.T, user string) {
	t.Helper()
	for page := "/v1/metric?sort=id:asc"; ; {
		var metrics []struct{ ID string }
		check(t, json.Unmarshal(s.want(t, "GET "+page, "", 200, "~", "user", user).Body.Bytes(), &metrics))
		if len(metrics) == 0 {
			return
		}
		for _, m := range metrics {
			// in open modes the list has others'
			s.call(t, "GET /v1/metric/"+m.ID+"/measures?refresh=true", "", "user", user)
			page = "/v1/metric?sort=id:asc&marker=" + m.ID
		}
	}
}

// A fault of one series keeps no other one from being stored.
func TestRemoteWriteRefuses(t *testing.T) {
	s := newServer(t, nil)
	f := func(status int, want, body string, headers ...string) {
		t.Helper()
		s.want(t, "POST /api/v1/write", body, status, want,
			append(append([]string{"user", "jd"}, asRemoteWrite...), headers...)...)
	}
	up := remoteWrite("up 1 1000 job=j")
	f(401, "~", up, "Authorization", "")
	const version2 = "application/x-protobuf;proto=io.prometheus.write.v2.Request"
	s.want(t, "POST /v1/prometheus/write", up, 415, "~protobuf_message: prometheus.WriteRequest", // for prometheus.yml
		"Content-Type", version2, "Content-Encoding", "snappy")
	w := s.want(t, "POST /api/v1/write", "hello", 400, "~snappy", "Content-Type", version2)
	for _, of := range []string{"Samples", "Histograms", "Exemplars"} {
		if got := w.Header().Get("X-Prometheus-Remote-Write-" + of + "-Written"); got != "0" {
			t.Errorf("%s written: %q", of, got)
		}
	}
	for _, path := range []string{"/api/v1/write", "/v1/prometheus/write"} {
		s.want(t, "POST "+path, up, 415, "~has to be application/x-protobuf", "Content-Type", "text/plain")
	}
	f(400, "~snappy", "hello")
	f(413, "~when uncompressed", string(s2.EncodeSnappy(nil, make([]byte, 32<<20+1))))
	f(400, "~2 of 4 samples refused, the others stored: ",
		remoteWrite("- 1 1000 job=j", "up 1 1000 job=j", strings.Repeat("u", 256)+" 1 1000", "down 1 1000 job=j"))
	f(400, "~labels must not be longer", remoteWrite("up 1 1000 job="+strings.Repeat("j", 17<<10)))
	s.want(t, "GET /v1/metric?name=up", "", 200, "~up", "user", "jd")
	s.want(t, "GET /v1/metric?name=down", "", 200, "~down", "user", "jd")

	nested := func(number protowire.Number, content []byte) []byte {
		return protowire.AppendBytes(protowire.AppendTag(nil, number, protowire.BytesType), content)
	}
	native := nested(1, append(nested(1, append(nested(1, []byte("__name__")), nested(2, []byte("native"))...)),
		nested(4, protowire.AppendVarint(protowire.AppendTag(nil, 4, protowire.VarintType),
			protowire.EncodeZigZag(99)))...))
	plain, err := s2.Decode(nil, []byte(remoteWrite("beside 1 1000")))
	check(t, err)
	f(400, "~1 of 2 samples refused, the others stored: 1 of native histograms: native: invalid native histogram: histogram has",
		string(s2.EncodeSnappy(nil, append(native, plain...))))
	s.want(t, "GET /v1/metric?name=beside", "", 200, "~beside", "user", "jd")
}

// Nor does a measure whose timestamp is none, or too far ahead, keep others of its series or of another from that.
func TestRemoteWriteLeavesOutWrongTimes(t *testing.T) {
	for _, most := range []time.Duration{0, 24 * time.Hour, time.Minute} {
		s := newServer(t, func(o *api.Options) { o.Limits.MaxFuture = most })
		late, until := "1767323646000", "2026-01-02T03:14:05+00:00" // ten minutes, and a second
		if most == time.Minute {
			late, until = "1767323106000", "2026-01-02T03:05:05+00:00"
		}
		for i, wrong := range []string{late, "18446744073709551615"} {
			up, other := fmt.Sprintf("up%d", i), fmt.Sprintf("other%d", i)
			s.want(t, "POST /api/v1/write",
				remoteWrite(up+" 1 60000 job=j", up+" 2 "+wrong+" job=j", "no 3 "+wrong, other+" 4 60000 job=j"), 400,
				"2 of 4 samples refused, the others stored: 2 from before 1970 or after "+until+": "+up+"\n",
				append([]string{"user", "jd"}, asRemoteWrite...)...)
			s.refreshAll(t, "jd")
			s.want(t, "GET /api/v1/query?time=100&query=max_over_time("+up+"[1m])%2B"+other, "", 200,
				`~[100,"5"]`, "user", "jd")
		}
		s.want(t, "GET /v1/metric?name=no", "", 200, "[]", "user", "jd")
	}
}

// A series that is refused permanently does not hide that others are to be sent again.
func TestRemoteWriteSaysWhatToRepeat(t *testing.T) {
	s := newServer(t, func(o *api.Options) { o.Limits.NewSeries = 1 })
	s.want(t, "POST /api/v1/write", remoteWrite("- 1 1000 job=j", "a 1 1000", "b 1 1000"), 429,
		"~may begin 1 series", append([]string{"user", "jd"}, asRemoteWrite...)...)
}

// Labels are a set: a series is the same in every order of its labels, new or known.
func TestRemoteWriteInAnyOrder(t *testing.T) {
	s := newServer(t, nil)
	for range 3 {
		s.want(t, "POST /api/v1/write", remoteWrite("a 1 1000 x=1,y=2", "a 1 2000 y=2,x=1", "a 1 3000 y=3,x=1"), 204, "",
			append([]string{"user", "jd"}, asRemoteWrite...)...)
		for _, y := range []string{"2", "3"} {
			s.want(t, "GET /api/v1/series?match[]=a{y='"+y+"'}", "", 200,
				`{"status":"success","data":[{"__name__":"a","x":"1","y":"`+y+`"}]}`, "user", "jd")
		}
	}
}

// Each project may begin so many series a minute; those that it has go on.
func TestRemoteWriteLimitsNewSeries(t *testing.T) {
	s := newServer(t, func(o *api.Options) { o.Auth, o.Limits.NewSeries = auth.TrustedHeaders{}, 10 })
	write := func(status int, want string, who []string, series ...string) {
		t.Helper()
		s.want(t, "POST /api/v1/write", remoteWrite(series...), status, "~"+want, append(who, asRemoteWrite...)...)
	}
	many := func(n int) []string {
		all := []string{"old 1 1000"}
		for i := range n {
			all = append(all, fmt.Sprintf("new 1 1000 job=j,pod=p%d", i))
		}
		return all
	}
	web, shop := trusted("carla", "web", "member"), trusted("olga", "shop", "member")
	write(204, "", web, "old 1 1000")
	write(429, "a project may begin 10 series in a minute: of these, label pod (11) has the most values", web,
		many(11)...)
	write(204, "", shop, "old 1 1000")
	s.want(t, "GET /v1/metric?limit=9", "", 200, "~old", web...)
}

// Metadata is shown to the project that sent it.
func TestRemoteWriteMetadata(t *testing.T) {
	s := newServer(t, nil)
	nested := func(number protowire.Number, content []byte) []byte {
		return protowire.AppendBytes(protowire.AppendTag(nil, number, protowire.BytesType), content)
	}
	one := protowire.AppendVarint(protowire.AppendTag(nil, 1, protowire.VarintType), 1)
	one = append(append(append(one, nested(2, []byte("http_requests_total"))...), nested(4, []byte("Requests."))...),
		nested(5, []byte("1"))...)
	s.want(t, "POST /api/v1/write", string(s2.EncodeSnappy(nil, nested(3, one))), 204, "",
		append([]string{"user", "jd"}, asRemoteWrite...)...)
	s.want(t, "GET /api/v1/metadata", "", 200,
		`{"status":"success","data":{"http_requests_total":[{"type":"counter","help":"Requests.","unit":"1"}]}}`,
		"user", "jd")
	s.want(t, "GET /api/v1/metadata", "", 200, `{"status":"success","data":{}}`, "user", "other")

	// A limit leaves the first names, at every time.
	s.policy(t, "low")
	for _, unit := range []string{"s", "ms"} {
		s.create(t, "/v1/metric", `{"name":"a","unit":"`+unit+`","archive_policy_name":"low"}`, "user", "jd")
	}
	s.create(t, "/v1/metric", `{"name":"z","archive_policy_name":"low"}`, "user", "jd")
	for range 20 {
		s.want(t, "GET /api/v1/metadata?limit=1&limit_per_metric=1", "", 200,
			`~{"a":[{"type":"unknown","help":"","unit":"s"}]},"warnings":["results truncated due to limit"]`,
			"user", "jd")
	}
}

// Gnocchi's mapping says once that it loses labels.
func TestCollisionIsLogged(t *testing.T) {
	var log strings.Builder
	s := newServer(t, func(o *api.Options) { o.Logger = slog.New(slog.NewTextHandler(&log, nil)) })
	s.rule(t)
	for range 2 {
		s.want(t, "POST /v1/prometheus/write", remoteWrite("up 1 1000 job=j,zone=a", "up 2 1000 job=j,zone=b"), 202,
			"~", append([]string{"user", "admin"}, asRemoteWrite...)...)
	}
	if n := strings.Count(log.String(), "/api/v1/write keeps them apart"); n != 1 {
		t.Errorf("said %d times: %s", n, log.String())
	}
}

// Metrics that were pushed with labels are listed by labels, page by page, to those who may list them.
func TestMetricsByLabels(t *testing.T) {
	s := newServer(t, func(o *api.Options) { o.Auth = auth.TrustedHeaders{} })
	users := map[string][]string{"jd": trusted("jd", "web", "member"), "other": trusted("other", "shop", "member"),
		"admin": trusted("root", "ops", "admin"), "nobody": trusted("nobody", "elsewhere", "member")}
	for _, user := range []string{"jd", "other"} {
		s.want(t, "POST /api/v1/write", remoteWrite("up 1 1000 job=node,instance=a", "up 1 1000 job=node,instance=b",
			"up 1 1000 job=web,x.y=1", "load 1 1000 job=node"),
			http.StatusNoContent, "", slices.Concat(users[user], asRemoteWrite)...)
	}
	s.create(t, "/v1/metric", `{"name":"plain","archive_policy_name":"prometheus"}`, users["jd"]...)
	list := func(user, filter string, want ...string) {
		t.Helper()
		got := []string{}
		for marker := ""; ; {
			w := s.want(t, "GET /v1/metric?limit=2&"+filter+marker, "", http.StatusOK, "~", users[user]...)
			var page []struct {
				ID     string
				Labels map[string]string
			}
			check(t, json.Unmarshal(w.Body.Bytes(), &page))
			for _, m := range page {
				got, marker = append(got, m.Labels["__name__"]+m.Labels["instance"]), "&marker="+m.ID
			}
			if linked := strings.Contains(w.Header().Get("Link"),
				url.QueryEscape(strings.SplitN(filter, "=", 2)[0])); linked != (len(page) == 2) {
				t.Errorf("%s: %d metrics, Link %q", filter, len(page), w.Header().Get("Link"))
			}
			if len(page) < 2 {
				break
			}
		}
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("%s sees %q of %s, want %q", user, got, filter, want)
		}
	}
	list("jd", "labels.job=node", "load", "upa", "upb")
	list("jd", "labels.job=node&labels.__name__=up", "upa", "upb")
	list("jd", "labels.job=node&labels.instance=", "load")
	list("jd", "labels.x.y=1", "up")
	list("jd", "labels.job=none")
	list("jd", "labels.none=", "load", "up", "upa", "upb")
	list("admin", "labels.instance=a", "upa", "upa")
	list("nobody", "labels.job=node")
}

// A label that stands twice in a series costs this series, which is named and counted, by either version.
func TestALabelTwiceByRemoteWrite(t *testing.T) {
	s := newServer(t, nil)
	body := remoteWrite("up 1 60000 job=a", "twice 2 60000 job=a,job=b", "equal 3 60000 job=a,job=a",
		"down 4 60000 job=a")
	s.want(t, "POST /api/v1/write", body, 400, `~2 of 4 samples refused, the others stored`, asRemoteWrite...)
	s.want(t, "POST /api/v1/write", body, 400, `~label \"job\" stands there twice`, asRemoteWrite...)
	s.want(t, "POST /api/v1/write", body, 400, `~series \"twice\"`, asRemoteWrite...)
	one := writev2.TimeSeries{LabelsRefs: []uint32{1, 2, 3, 4},
		Samples: []writev2.Sample{{Value: 1, Timestamp: 60_000}}}
	two := writev2.TimeSeries{LabelsRefs: []uint32{1, 5, 3, 4, 3, 2}, Samples: one.Samples}
	two2, err := (&writev2.Request{Symbols: []string{"", "__name__", "up2", "job", "a", "twice2"},
		Timeseries: []writev2.TimeSeries{one, two}}).Marshal()
	check(t, err)
	s.want(t, "POST /api/v1/write", string(s2.EncodeSnappy(nil, two2)), 400,
		`~1 of 2 samples refused, the others stored: 1 series: twice2: label "job" stands there twice`, asRemoteWrite2...)
	s.refreshAll(t, "admin")
	s.want(t, "GET /api/v1/query?time=60&query=count({__name__=~%22.%2B%22})", "", 200, `~[60,"3"]`)
	s.want(t, "GET /metrics", "", 200, `~gnocco_push_refused_total{protocol="remote_write",reason="labels"} 7`)
}

// Odd metadata and exemplars cost themselves, and are named and counted: the samples and the other types are stored.
func TestOddMetadataByRemoteWrite(t *testing.T) {
	s := newServer(t, nil)
	kept := writev2.Metadata{Type: writev2.Metadata_METRIC_TYPE_GAUGE}
	one := func(name uint32, m writev2.Metadata, exemplars ...writev2.Exemplar) writev2.TimeSeries {
		return writev2.TimeSeries{LabelsRefs: []uint32{1, name}, Metadata: m, Exemplars: exemplars,
			Samples: []writev2.Sample{{Value: 1, Timestamp: 60_000}}}
	}
	body, err := (&writev2.Request{Symbols: []string{"", "__name__", "a_total", "b_total", "c_total", "d_total"},
		Timeseries: []writev2.TimeSeries{
			one(2, writev2.Metadata{Type: writev2.Metadata_METRIC_TYPE_GAUGE, HelpRef: 99}), one(3, kept),
			one(4, writev2.Metadata{Type: 77}), one(5, kept, writev2.Exemplar{LabelsRefs: []uint32{1, 98}})}}).Marshal()
	check(t, err)
	w := s.want(t, "POST /api/v1/write", string(s2.EncodeSnappy(nil, body)), 400,
		"~0 of 4 samples refused, the others stored: 3 of exemplars or metadata: a_total: metadata: "+
			"a reference lies beyond the symbols",
		asRemoteWrite2...)
	if got := w.Header().Get("X-Prometheus-Remote-Write-Samples-Written"); got != "4" {
		t.Errorf("%s samples are written", got)
	}
	metadata := []byte{0x08, 1, 0x12, 3, 'e', '_', 't'} // of version 1
	var first []byte
	for _, m := range [][]byte{{0x08, 88, 0x12, 1, 'f'}, metadata, {0x08, 1}, {0x12, 1, 0xff}} {
		first = append(append(first, 0x1a, byte(len(m))), m...)
	}
	s.want(t, "POST /api/v1/write", string(s2.EncodeSnappy(nil, first)), 400,
		"~0 of 0 samples refused, the others stored: 3 of exemplars or metadata: f: metadata: type 88 is not known", asRemoteWrite...)
	s.want(t, "GET /metrics", "", 200, `~gnocco_push_refused_total{protocol="remote_write",reason="exemplar_or_metadata"} 6`)
	types := s.want(t, "GET /api/v1/metadata", "", 200, "~").Body.String()
	for name, kind := range map[string]string{"a_total": "counter", "b_total": "gauge", "c_total": "counter", "d_total": "gauge",
		"e_t": "counter"} { // those of a_total and c_total by their names
		if !strings.Contains(types, fmt.Sprintf(`%q:[{"type":%q`, name, kind)) {
			t.Errorf("%s is no %s: %s", name, kind, types)
		}
	}
	s.refreshAll(t, "admin")
	s.want(t, "GET /api/v1/query?time=60&query=count({__name__=~%22.%2B%22})", "", 200, `~[60,"4"]`)
}

// Stale markers and samples with a start timestamp are written, as the sender reads it, and nothing is refused.
func TestStaleMarkersAreWritten(t *testing.T) {
	s := newServer(t, nil)
	symbols := writev2.NewSymbolTable()
	refs := symbols.SymbolizeLabels(labels.FromStrings("__name__", "jobs_total"), nil)
	stale := math.Float64frombits(0x7ff0000000000002)
	one := writev2.TimeSeries{LabelsRefs: refs, Samples: []writev2.Sample{
		{Value: 10, Timestamp: 60_000, StartTimestamp: 50_000}, {Value: stale, Timestamp: 61_000}}}
	gone := writev2.TimeSeries{LabelsRefs: symbols.SymbolizeLabels(labels.FromStrings("__name__", "gone"), nil),
		Samples:    one.Samples[1:],
		Histograms: []writev2.Histogram{{Sum: stale, Timestamp: 61_000, StartTimestamp: 2}}}
	body, err := (&writev2.Request{Symbols: symbols.Symbols(), Timeseries: []writev2.TimeSeries{one, gone}}).Marshal()
	check(t, err)
	w := s.want(t, "POST /api/v1/write", string(s2.EncodeSnappy(nil, body)), 204, "", asRemoteWrite2...)
	for of, want := range map[string]string{"Samples": "3", "Histograms": "1"} {
		if got := w.Header().Get("X-Prometheus-Remote-Write-" + of + "-Written"); got != want {
			t.Errorf("%s %s of %s are written", got, of, want)
		}
	}
	if w := s.want(t, "GET /metrics", "", 200, "~"); strings.Contains(w.Body.String(), "gnocco_push_refused_total{") {
		t.Error("something is counted as refused")
	}
}

// A message of one version that is sent as the other one is refused: neither knows the other's series.
func TestRemoteWriteOfTheOtherVersion(t *testing.T) {
	s := newServer(t, nil)
	one, err := (&prompb.WriteRequest{Timeseries: []prompb.TimeSeries{{Labels: []prompb.Label{{Name: "__name__", Value: "a"}},
		Samples: []prompb.Sample{{Value: 1, Timestamp: 60000}}}}}).Marshal()
	check(t, err)
	two, err := (&writev2.Request{Symbols: []string{"", "__name__", "a"}, Timeseries: []writev2.TimeSeries{{LabelsRefs: []uint32{1, 2},
		Samples: []writev2.Sample{{Value: 1, Timestamp: 60000}}}}}).Marshal()
	check(t, err)
	for _, sent := range []struct {
		body    []byte
		headers []string
	}{{one, asRemoteWrite2}, {two, asRemoteWrite}} {
		s.want(t, "POST /api/v1/write", string(s2.EncodeSnappy(nil, sent.body)), http.StatusBadRequest, "~other version", sent.headers...)
	}
	if got := s.stored(t); len(got) > 0 {
		t.Error(got)
	}
}
