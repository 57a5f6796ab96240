package api_test

import (
	"bytes"
	"fmt"
	"math"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"google.golang.org/protobuf/proto"
)

// query checks the answer of an instant query at second 60, as a part of it.
func (s *server) query(t *testing.T, expr, want string) {
	t.Helper()
	s.refreshAll(t, "jd")
	escaped := strings.NewReplacer("{", "%7B", "}", "%7D", `"`, "%22", " ", "%20", "+", "%2B").Replace(expr)
	s.want(t, "GET /api/v1/query?time=60&query="+escaped, "", 200, "~"+want, "user", "jd")
}

// JSON lines are stored line by line, and the answer names those that are not.
func TestImportJSONLines(t *testing.T) {
	s := newServer(t, nil)
	f := func(status int, want, target string, lines ...string) {
		t.Helper()
		s.want(t, "POST /api/v1/import"+target, strings.Join(lines, "\n"), status, "~"+want, "user", "jd")
	}
	f(204, "", "?extra_label=site=a=b&extra_label=zone=z",
		`{"metric":{"__name__":"up","job":"node/1","zone":"y"},"values":[1, null,3,"NaN"],"timestamps":[57000,58000, 59000,59500]}`,
		"", `{ "timestamps" : [60000], "values" : ["-Infinity"], "metric" : {"__name__":"low","empty":""} }`)
	s.query(t, "up offset 1s", `{"__name__":"up","job":"node/1","site":"a=b","zone":"z"},"value":[60,"3"]`)
	s.query(t, "up", `[60,"NaN"]`)
	s.query(t, "count_over_time(up[10s])", `[60,"3"]`)
	s.query(t, "low", `{"__name__":"low","site":"a=b","zone":"z"},"value":[60,"-Inf"]`)

	const good = `{"metric":{"__name__":"good"},"values":[1],"timestamps":[60000]}`
	for _, c := range []struct{ reason, line string }{
		{"unexpected end", `{"metric":`},
		{"[1] is not an object", `[1]`},
		{`"metric" has no "__name__"`, `{"metric":{"job":"x"},"values":[1],"timestamps":[1]}`},
		{"the numbers of timestamps and values are 2 and 1", `{"metric":{"__name__":"x"},"values":[1],"timestamps":[1,2]}`},
		{"the numbers of timestamps and values are 0 and 0", `{"metric":{"__name__":"x"},"values":[],"timestamps":[]}`},
		{"the numbers of timestamps and values are 0 and 1", `{"metric":{"__name__":"x"},"values":[1]}`},
		{"timestamp -1 is not between 1970 and 2262", `{"metric":{"__name__":"x"},"values":[1],"timestamps":[-1]}`},
		{`timestamp "1.5" is not an integer`, `{"metric":{"__name__":"x"},"values":[1],"timestamps":[1.5]}`},
		{`value "[1]" is not a number`, `{"metric":{"__name__":"x"},"values":[2,[1]],"timestamps":[1,2]}`},
		{`value "1 "`, `{"metric":{"__name__":"x"},"values":["1 "],"timestamps":[2]}`},
		{"not valid UTF-8", "{\"metric\":{\"__name__\":\"x\xff\"},\"values\":[1],\"timestamps\":[1]}"},
		{"line 2: metric name must not be longer", `{"metric":{"__name__":"` + strings.Repeat("x", 256) + `"},"values":[1],"timestamps":[1]}`},
	} {
		f(400, "1 of 3 lines refused: line 2: ", "", good, c.line, good)
		w := s.call(t, "POST /api/v1/import", good+"\n"+c.line, "user", "jd")
		if !strings.Contains(w.Body.String(), strings.TrimPrefix(c.reason, "line 2: metric ")) {
			t.Errorf("%s: %s, want %s", c.line, w.Body, c.reason)
		}
	}
	s.query(t, "good", `[60,"1"]`)
	s.query(t, "x", `[60,"2"]`) // the measure beside an odd one
	f(400, "30 of 30 lines refused: line 1: ", "", strings.Repeat("{\n", 30))
	f(400, "; and 10 more", "", strings.Repeat("{\n", 30))
	f(400, "extra_label has to be NAME=VALUE", "?extra_label=x", good)
	s.want(t, "POST /api/v1/import", good, 401, "~", "Authorization", "")
}

// Lines of the exposition format stand for themselves; types of a line count for the following ones.
func TestImportExposition(t *testing.T) {
	s := newServer(t, nil)
	f := func(status int, want, target string, lines ...string) {
		t.Helper()
		s.want(t, "POST /api/v1/import/prometheus"+target, strings.Join(lines, "\n"), status, "~"+want, "user", "jd",
			"Content-Type", "text/plain")
	}
	f(204, "", "?timestamp=60000&extra_label=site=a",
		"# HELP answers_total Answers \\n given.", "# TYPE answers_total counter", `answers_total{code="200",path="a/\"b\\\n"} 3`,
		`answers_total{code="500"} NaN 59000`, "", "# a comment", "# TYPE took histogram", `took_bucket{le="1"} 2`,
		`took_bucket{le="+Inf"} 2`, "took_sum 1.5", "took_count 2")
	s.query(t, `answers_total{code="200"}`, `"metric":{"__name__":"answers_total","code":"200","path":"a/\"b\\\n","site":"a"},"value":[60,"3"]`)
	s.query(t, `answers_total{code="500"}`, `[60,"NaN"]`)
	s.query(t, `took_bucket`, `{"__name__":"took_bucket","le":"1","site":"a"}`)
	s.want(t, "GET /api/v1/metadata?metric=answers_total", "", 200,
		`~"type":"counter","help":"Answers \n given."`, "user", "jd")
	f(400, `2 of 4 lines refused: line 2: `, "?timestamp=60000", "good 1", "bad", "good 2 59999", "{} 1")
	f(400, `1 of 1 line refused: line 1: parsing "line": invalid syntax`, "", "bad line")
	f(400, "line 2: not valid UTF-8", "?timestamp=60000", "good 1", "bad{a=\"\xff\"} 1")
	f(400, "line 1: timestamp 9223372036855 is not between", "", "bad 1 9223372036855")
	f(400, "timestamp has to be milliseconds", "?timestamp=x", "good 1")
	s.query(t, "good", `[60,"1"]`)
	f(204, "", "", "# TYPE a counter", "a 1 1000", "# HELP a A.", "# TYPE a counter", "# TYPE b gauge")
	f(204, "", "", "big 9007199254740993 60000") // docs/send/README.md says so
	s.query(t, "big", `[60,"9007199254740992"]`)
	f(400, `1 of 4 lines refused: line 3: "a" is a counter above, and here a gauge`, "", "# TYPE a counter",
		"a 1 1000", "# TYPE a gauge", "a 2 60000")
	s.want(t, "GET /api/v1/metadata?metric=a", "", 200, `~"type":"counter"`, "user", "jd")
	s.query(t, "a", `[60,"2"]`)
	for _, kind := range []string{"application/openmetrics-text; version=1.0.0", "application/vnd.google.protobuf"} {
		s.want(t, "POST /api/v1/import/prometheus", "good 1", 415, "~has to be", "Content-Type", kind, "user", "jd")
	}
}

// Value lists of collectd's write_http have the names of the network plugin's, and their values those of types.db.
func TestImportCollectd(t *testing.T) {
	s := newServer(t, nil)
	list := func(values, kinds, names, time string) string {
		return fmt.Sprintf(`{"values":[%s],"dstypes":[%s],"dsnames":[%s],"time":%s,"interval":10.000,"host":"web-1",`+
			`"plugin":"disk-x","plugin_instance":"sda","type":"disk_octets","type_instance":"","meta":{"a":1}}`, values, kinds, names, time)
	}
	f := func(status int, want, body string) {
		t.Helper()
		s.want(t, "POST /api/v1/import/collectd?extra_label=site=a", body, status, "~"+want, "user", "jd")
	}
	good := list("7,8.5,null", `"derive","counter","derive"`, `"read","write","none"`, "59.2504")
	f(204, "", "["+good+","+list("-3", `"gauge"`, `"value"`, "59")+","+list("5", `"absolute"`, `"value"`, "60")+"]")
	f(400, "1 of 2 lines refused: line 1: collectd_disk_x_disk_octets: 1 measure replaced",
		"["+list("-3", `"gauge"`, `"value"`, "60")+","+list("4", `"absolute"`, `"value"`, "60")+"]")
	f(204, "", " [ ] ")
	const labels = `"host":"web-1","plugin":"disk-x","plugin_instance":"sda","site":"a","type":"disk_octets"`
	s.query(t, `collectd_disk_x_disk_octets_total{value="read"}`,
		`"__name__":"collectd_disk_x_disk_octets_total",`+labels+`,"value":"read"},"value":[60,"7"]}`)
	s.query(t, `{value="none"}`, `"result":[]`)
	s.query(t, "collectd_disk_x_disk_octets", `"metric":{"__name__":"collectd_disk_x_disk_octets",`+labels+`},"value":[60,"4"]`)

	for _, c := range []struct{ reason, list string }{
		{"the numbers of values, dstypes and dsnames are 2, 1 and 1", list("1,2", `"gauge"`, `"value"`, "1")},
		{"the numbers of values, dstypes and dsnames are 0, 0 and 0", `{"severity":"FAILURE"}`},
		{"plugin, type and time are needed", `{"values":[1],"dstypes":["gauge"],"dsnames":["value"],"time":1}`},
		{"time -1 is not between", list("1", `"gauge"`, `"value"`, "-1")},
		{"time 1e12 is not between", list("1", `"gauge"`, `"value"`, "1e12")},
		{`values refused: 1 of 1: dstype "odd" of value 0 is unknown`, list("1", `"odd"`, `"value"`, "1")},
		{`values refused: 1 of 1: value 0: "\"1\"" is not a number`, list(`"1"`, `"gauge"`, `"value"`, "1")},
		{"not valid UTF-8", list("1", `"gauge"`, "\"\xff\"", "1")},
	} {
		f(400, "1 of 3 lines refused: line 2: "+c.reason, "["+good+","+c.list+","+good+"]")
	}
	f(400, "1 of 2 lines refused: line 2: invalid character", "["+good+",}")
	f(400, "1 of 2 lines refused: line 2: the list does not end", "["+good)
	f(400, "1 of 2 lines refused: line 2: text follows the list", "["+good+"] x")
	f(400, "The body has to be a list", good)
}

// A push's group is its path, also by base64. It replaces labels of the series.
func TestPushgateway(t *testing.T) {
	s := newServer(t, nil)
	at := fmt.Sprint(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC).Unix()) // newServer's clock
	query := func(expr, want string) {
		t.Helper()
		s.refreshAll(t, "jd")
		s.want(t, "GET /api/v1/query?time="+at+"&query="+expr, "", 200, "~"+want, "user", "jd")
	}
	f := func(request string, status int, want, body string, headers ...string) {
		t.Helper()
		s.want(t, request, body, status, "~"+want, append([]string{"user", "jd", "Content-Type", "text/plain"}, headers...)...)
	}
	f("PUT /metrics/job/backup", 200, "", "took_seconds{job=\"x\",disk=\"a\"} 12\n")
	query("took_seconds", `"metric":{"__name__":"took_seconds","disk":"a","job":"backup"},"value":[`+at+`,"12"]`)
	query(`push_time_seconds`, `"metric":{"__name__":"push_time_seconds","job":"backup"},"value":[`+at+`,"`+at+`"]`)
	f("POST /gnocchi/metrics/job@base64/YS9i/instance/h%3A9/dir@base64/L3Zhci90bXA/none@base64/=", 200, "", "size 1\n")
	query("size", `"metric":{"__name__":"size","dir":"/var/tmp","instance":"h:9","job":"a/b"}`)
	f("POST /metrics/job/a%2Fb/x/1", 200, "", "slash 1\n")
	query("slash", `"metric":{"__name__":"slash","job":"a/b","x":"1"}`)

	var protobuf bytes.Buffer
	registry := prometheus.NewRegistry()
	histogram := prometheus.NewHistogram(prometheus.HistogramOpts{Name: "delay", Buckets: []float64{1, 2}})
	histogram.Observe(1.5)
	registry.MustRegister(histogram)
	families, err := registry.Gather()
	check(t, err)
	format := expfmt.NewFormat(expfmt.TypeProtoDelim)
	check(t, expfmt.NewEncoder(&protobuf, format).Encode(families[0]))
	f("PUT /metrics/job/go", 200, "", protobuf.String(), "Content-Type", string(format))
	query(`delay_bucket%7Ble=%222.0%22%7D`, `{"__name__":"delay_bucket","job":"go","le":"2.0"},"value":[`+at+`,"1"]`)
	query("delay_sum", `"1.5"`)
	f("PUT /metrics/job/go", 400, "could not be decoded", protobuf.String()[:9], "Content-Type", string(format))
	protobuf.Reset()
	for i, value := range []float64{1, 2} {
		family := &dto.MetricFamily{Name: proto.String("twice"), Type: dto.MetricType(i).Enum(),
			Metric: []*dto.Metric{{Counter: &dto.Counter{Value: &value}}}}
		if i == 1 {
			family.Metric[0] = &dto.Metric{Gauge: &dto.Gauge{Value: &value},
				Label: []*dto.LabelPair{{Name: proto.String("x"), Value: proto.String("y")}}}
		}
		check(t, expfmt.NewEncoder(&protobuf, format).Encode(family))
	}
	f("PUT /metrics/job/go", 400, `1 of 3 lines refused: line 2: "twice" is a counter above, and here a gauge`,
		protobuf.String(), "Content-Type", string(format))
	s.want(t, "GET /api/v1/metadata?metric=twice", "", 200, `~"type":"counter"`, "user", "jd")
	query("twice", `"job":"go"},"value":[`+at+`,"1"]`)
	query("twice", `"x":"y"},"value":[`+at+`,"2"]`)

	f("PUT /metrics/job/backup", 400, "1 of 2 lines refused: line 2: ", "kept 1\nbad")
	query("kept", `"1"`)
	for _, path := range []string{"job", "job/", "host/x", "job/x/y", "job/x//y", "job/x/__name__/y", "job@base64/*"} {
		for _, method := range []string{"PUT", "POST", "DELETE"} {
			f(method+" /metrics/"+path, 400, "", "up 1\n")
		}
	}
	f("DELETE /metrics/job/backup", 202, "", "")
	s.want(t, "PUT /metrics/job/backup", "up 1\n", 401, "~", "Authorization", "", "Content-Type", "text/plain")
}

// A body of lines that cannot be read ends early, and the answer says so. Lines before the end are stored. A body that
// is mostly readable is read to its end.
func TestManyUnreadableLines(t *testing.T) {
	s := newServer(t, nil)
	garbage := strings.Repeat("x\n", 1_000_000)
	const told = "~10000 of 10001 lines refused, and the body is not read behind these"
	for path, good := range map[string]string{"/api/v1/import/prometheus": "good 1\n",
		"/api/v1/import": `{"metric":{"__name__":"good"},"values":[1],"timestamps":[1000]}` + "\n"} {
		s.want(t, "POST "+path, good+garbage, 400, told, "user", "jd")
	}
	mixed := strings.Repeat("good 1\nx\ngood 1\n", 15_000)
	s.want(t, "POST /api/v1/import/prometheus", mixed, 400, "~15000 of 45000 lines refused: ", "user", "jd")
	for _, odd := range []string{"{}", "null", "1", `"x"`, `{"values":[1]}`} {
		s.want(t, "POST /api/v1/import/collectd", "["+strings.Repeat(odd+",", 100_000)+odd+"]", 400,
			"~10000 of 10000 lines refused, and the body is not read behind these", "user", "jd")
	}
}

// Comments are no lines that cannot be read. A body may consist of them, and none takes the time of a parser.
func TestManyComments(t *testing.T) {
	s := newServer(t, nil)
	for _, comment := range []string{"#\n", "# EOF\n", "#x\n", "# \t# a b\n"} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		s.want(t, "POST /api/v1/import/prometheus", strings.Repeat(comment, 100_000)+"good 1\n", 204, "", "user", "jd")
		if runtime.ReadMemStats(&after); after.Mallocs-before.Mallocs > 50_000 {
			t.Errorf("%q: %d allocations for 100,000 comments", comment, after.Mallocs-before.Mallocs)
		}
	}
}

// A measure that is too far ahead costs itself, and no time of a sender is rounded.
func TestMeasuresOfALineCostThemselves(t *testing.T) {
	s := newServer(t, nil)
	s.want(t, "POST /api/v1/import", `{"metric":{"__name__":"a"},"values":[1,2],"timestamps":[60000,7000000000000]}`,
		http.StatusBadRequest, "~measures refused: 1 of 2: timestamp 7000000000000 is more than 24h0m0s ahead")
	const list = `{"values": [%d], "dstypes": [%q], "dsnames": ["value"], "time": %s, "plugin": "p", "type": "t"}`
	body := fmt.Sprintf("["+list+","+list+","+list+"]", 1, "gauge", "60.0000001", 2, "gauge", "60.0000002",
		uint64(math.MaxUint64), "counter", "60.5")
	s.want(t, "POST /api/v1/import/collectd", body, http.StatusNoContent, "")
	if got, want := fmt.Sprint(s.stored(t)), "[a=1 collectd_p_t=1 collectd_p_t=2 collectd_p_t_total=1.8446744073709552e+19]"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	for _, body := range []string{"[" + fmt.Sprintf(list, 1, "gauge", "60"), "[" + fmt.Sprintf(list, 1, "gauge", "60") + "][]"} {
		s.want(t, "POST /api/v1/import/collectd", body, http.StatusBadRequest, "~1 of 2 lines refused: line 2: ")
	}
}

// A label that stands twice in a request's own labels refuses the request.
func TestLabelsOfARequestStandOnce(t *testing.T) {
	s := newServer(t, nil)
	for _, path := range []string{"/metrics/job/a/job/b", "/metrics/job/a/of/1/of/1", "/metrics/job/a/of//of/1",
		"/api/v1/import/prometheus?extra_label=of=1&extra_label=of=2", "/api/v1/import?extra_label=of=&extra_label=of=2"} {
		s.want(t, "POST "+path, "x 1\n", http.StatusBadRequest, "~stands there twice")
	}
	if got := s.stored(t); len(got) > 0 {
		t.Error(got)
	}
}
