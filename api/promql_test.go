package api_test

import (
	"compress/gzip"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/go-chi/chi/v5"

	"github.com/gnocco-db/gnocco/api"
	"github.com/gnocco-db/gnocco/api/auth"
)

// promqlServer has metrics of two projects, made by carla of project web.
func promqlServer(t *testing.T) (s *server, users map[string][]string) {
	s = newServer(t, func(o *api.Options) { o.Auth = auth.TrustedHeaders{} })
	users = map[string][]string{
		"a": trusted("root", "ops", "admin"),
		"s": trusted("billing", "ops", "service"),
		"c": trusted("carla", "web", "member"), // made everything
		"m": trusted("mark", "web", "member"),  // is of her project
		"o": trusted("olga", "shop", "member"), // whose project one resource is said to be of
		"x": trusted("xaver", "elsewhere", "member"),
	}
	s.create(t, "/v1/archive_policy",
		`{"name":"p","definition":[{"granularity":"1 minute"},{"granularity":"1 hour"}],"aggregation_methods":["+last"]}`, users["a"]...)
	s.create(t, "/v1/resource_type", `{"name":"host","attributes":{"rack":{"type":"string","required":false}}}`,
		users["a"]...)
	for _, resource := range []string{
		`{"id":"6f1a4f8e-3b0a-4c5e-9b43-6b8c1a2f6a01","project_id":"shop","rack":"r1","metrics":{"used":{"archive_policy_name":"p","unit":"B"},"total":{"archive_policy_name":"p","unit":"B"}}}`,
		`{"id":"6f1a4f8e-3b0a-4c5e-9b43-6b8c1a2f6a02","project_id":"bank","rack":"r2","metrics":{"used":{"archive_policy_name":"p"},"secret":{"archive_policy_name":"p"}}}`,
	} {
		var made struct{ Metrics map[string]string }
		w := s.want(t, "POST /v1/resource/host", resource, http.StatusCreated, "~", users["c"]...)
		check(t, json.Unmarshal(w.Body.Bytes(), &made))
		for name, id := range made.Metrics {
			s.want(t, "POST /v1/metric/"+id+"/measures", `[{"timestamp":"2026-01-02T03:00:05","value":`+
				strconv.Itoa(len(name))+`},{"timestamp":"2026-01-02T03:00:50","value":`+
				strconv.Itoa(2*len(name))+`}]`, http.StatusAccepted, "", users["c"]...)
			s.want(t, "GET /v1/metric/"+id+"/measures?refresh=true", "", http.StatusOK, "~03:00", users["c"]...)
		}
	}
	s.create(t, "/v1/metric", `{"name":"free","archive_policy_name":"p"}`, users["m"]...)
	return s, users
}

func TestPromQL(t *testing.T) {
	s, users := promqlServer(t)
	admin := users["a"]
	const labels = `"project_id":"shop","rack":"r1","resource_id":"6f1a4f8e-3b0a-4c5e-9b43-6b8c1a2f6a01","resource_type":"host"`
	f := func(request, want string) {
		t.Helper()
		s.want(t, request, "", http.StatusOK, want, admin...)
	}
	vector := func(result string) string {
		return `{"status":"success","data":{"resultType":"vector","result":[` + result + `]}}`
	}
	noted := func(result, info string) string {
		return "~" + strings.TrimSuffix(vector(result), "}") + `,"infos":["PromQL info: ` + info + `"]}`
	}
	at := "&time=2026-01-02T03:02:00Z"
	f("GET /api/v1/query?query=1%2B1&time=4", `{"status":"success","data":{"resultType":"scalar","result":[4,"2"]}}`)
	f(`GET /api/v1/query?query="a"&time=4.5`,
		`{"status":"success","data":{"resultType":"string","result":[4.500,"a"]}}`)
	f("GET /api/v1/query?query=total"+at, vector(`{"metric":{"__name__":"total",`+labels+
		`},"value":[1767322920,"10"]}`))
	f("GET /api/v1/query?query=used/total"+at, vector(`{"metric":{`+labels+`},"value":[1767322920,"0.8"]}`))
	f("GET /gnocchi/api/v1/query?query=sum(avg_over_time(used[2m]))"+at, // of measures
		vector(`{"metric":{},"value":[1767322920,"12"]}`))
	f(`GET /gnocchi/api/v1/query?query=sum(avg_over_time(used{__granularity__="60"}[2m]))`+at,
		noted(`{"metric":{},"value":[1767322920,"12"]}`, "used is answered from granularity 1m"))
	f(`GET /api/v1/query?query=count_over_time(total{unit="B",archive_policy="p",__granularity__="60"}[2m])`+at,
		noted(`{"metric":{`+labels+`},"value":[1767322920,"2"]}`,
			`total{unit=\"B\",archive_policy=\"p\"} is answered from granularity 1m`))
	f("GET /api/v1/query?query=increase(total[2m])"+at,
		`~"warnings":["PromQL warning: increase is that of one measure a group; resets within groups are not seen. `)
	f(`GET /api/v1/query?query=total{__aggregation__="max"}`+at,
		vector(`{"metric":{"__name__":"total",`+labels+`},"value":[1767322920,"10"]}`))
	f(`GET /api/v1/query?query={U__rack="r1",__name__="total"}`+at,
		vector(`{"metric":{"__name__":"total",`+labels+`},"value":[1767322920,"10"]}`))
	f("GET /api/v1/query?query=first_over_time(total[2m])"+at,
		`~"warnings":["PromQL warning: archive policy \"p\" has no first: first_over_time is that of the last of each group. To add first: `+
			`PATCH /v1/archive_policy/p?rebuild=true with aggregation_methods"]`)
	f(`GET /api/v1/query?query=total{__granularity__="60"}`+at,
		`~"infos":["PromQL info: total is answered from granularity 1m"]`)
	f(`GET /api/v1/query?query=sum(total{rack=~"r.*",__granularity__="60"})%2Bused`+at,
		`~"infos":["PromQL info: total{rack=~\"r.*\"} is answered from granularity 1m"]`)
	f(`GET /api/v1/query?query=total{__aggregation__=~"ma.*"}`+at,
		vector(`{"metric":{"__aggregation__":"max","__name__":"total",`+labels+`},"value":[1767322920,"10"]}`))
	s.want(t, `GET /api/v1/query?query=total{__granularity__=~"6.*"}`, "", http.StatusUnprocessableEntity,
		"~__granularity__ says how to read series: it takes = only", admin...)
	f("GET /api/v1/query_range?query=total&start=2026-01-02T03:00:30Z&end=2026-01-02T03:02:00Z&step=30s",
		`{"status":"success","data":{"resultType":"matrix","result":[{"metric":{"__name__":"total",`+labels+
			`},"values":[[1767322830,"5"],[1767322860,"10"],[1767322890,"10"],[1767322920,"10"]]}]}}`)
	f("GET /api/v1/query?query=used&limit=1"+at, `~"warnings":["results truncated due to limit"]`)
	f("GET /api/v1/labels?match[]=total",
		`{"status":"success","data":["__name__","project_id","rack","resource_id","resource_type"]}`)
	f("GET /api/v1/label/rack/values", `{"status":"success","data":["r1","r2"]}`)
	f("GET /api/v1/label/U__unit/values", `{"status":"success","data":["B"]}`)
	f("GET /api/v1/label/__name__/values?limit=2",
		`{"status":"success","data":["free","secret"],"warnings":["results truncated due to limit"]}`)
	f("GET /api/v1/series?match[]=total", `{"status":"success","data":[{"__name__":"total",`+labels+`}]}`)
	f("GET /api/v1/series?ids=true&match[]=total", `~"metric_id":"`)
	f("GET /api/v1/series?ids=true&match[]=total", `~"original_resource_id":"`)
	f("GET /api/v1/series?ids=true&match[]=total", `~"metric_name":"total"`)
	f("GET /api/v1/series?ids=true&match[]=total", `~"archive_policy":"`)
	f("GET /api/v1/metadata?metric=total",
		`{"status":"success","data":{"total":[{"type":"unknown","help":"","unit":"B"}]}}`)
	f("GET /api/v1/format_query?query=sum(a)by(b)", `{"status":"success","data":"sum by (b) (a)"}`)
	f("GET /api/v1/status/tsdb", `~"seriesCountByMetricName":[{"name":"used","value":2}`)

	// Times as clients send them: Prometheus' first and last, before 1970, the end before the start where only labels
	// are asked for.
	always := "start=-292273086-05-16T16:47:06Z&end=292277025-08-18T07:12:54.999999999Z"
	f("GET /api/v1/series?match[]=total&"+always, `{"status":"success","data":[{"__name__":"total",`+labels+`}]}`)
	f("GET /api/v1/label/rack/values?"+always, `{"status":"success","data":["r1","r2"]}`)
	f("GET /api/v1/label/rack/values?start=5&end=4", `{"status":"success","data":["r1","r2"]}`)
	f("GET /api/v1/query?query=time()&time=-1.5",
		`{"status":"success","data":{"resultType":"scalar","result":[-1.500,"-1.5"]}}`)
	f("GET /api/v1/query?query=total&time=-1.5", vector(""))
	f("GET /api/v1/query_range?query=1&start=-1&end=1&step=1",
		`{"status":"success","data":{"resultType":"matrix","result":[{"metric":{},"values":[[-1,"1"],[0,"1"],[1,"1"]]}]}}`)
	bad := func(request, text string) {
		t.Helper()
		s.want(t, request, "", http.StatusBadRequest, `{"status":"error","errorType":"bad_data","error":"`+
			text+`"}`, admin...)
	}
	bad("GET /api/v1/query?query=1&time=now",
		`invalid parameter \"time\": invalid time value for 'time': cannot parse \"now\" to a valid timestamp`)
	bad("GET /api/v1/query_range?query=1&start=now&end=1&step=1",
		`invalid parameter \"start\": cannot parse \"now\" to a valid timestamp`)
	bad("GET /api/v1/query_range?query=1&start=0&end=11001&step=1",
		`exceeded maximum resolution of 11,000 points per timeseries. Try decreasing the query resolution (?step=XX)`)

	for _, route := range []string{"series?", "labels?", "label/rack/values?"} {
		for _, match := range []string{"{}", `{rack=""}`, `{rack=~".*"}`, "total&match[]={}"} {
			bad("GET /api/v1/"+route+"match[]="+match,
				`invalid parameter \"match[]\": match[] must contain at least one non-empty matcher`)
		}
	}
	f("GET /api/v1/series_count?match[]={}", `~"status":"success"`)

	// Texts are bounded before they are parsed, wherever there are any.
	form := append(slices.Clone(admin), "Content-Type", "application/x-www-form-urlencoded")
	for _, route := range []string{"query", "query_range", "format_query", "parse_query", "series", "labels", "series_count"} {
		for _, many := range []struct{ text, fault string }{
			{strings.Repeat("a", 65537), "65537 bytes of PromQL: at most "},
			{strings.Repeat("(", 101), "parentheses are nested deeper than 100 levels"},
			{strings.Repeat("-", 501), "more than 500 operators, ranges and offsets"},
			{`x{a=~"` + strings.Repeat("a{1000}", 300) + `"}`, "regular expressions have more than 262144 instructions"},
			{`x{a=~"` + strings.Repeat(`\\pL`, 65) + `"}`, "more than 64 Unicode classes in regular expressions"},
		} {
			body := url.Values{"query": {many.text}, "match[]": {many.text}, "start": {"0"}, "end": {"1"}, "step": {"1"}}
			s.want(t, "POST /api/v1/"+route, body.Encode(), http.StatusBadRequest, "~"+many.fault, form...)
		}
	}
	s.want(t, "POST /api/v1/series", url.Values{"match[]": {strings.Repeat("a", 40000), strings.Repeat("b", 40000)}}.Encode(),
		http.StatusBadRequest, "~80000 bytes of PromQL: at most 65536 are parsed", form...)
	s.want(t, "POST /api/v1/format_query", url.Values{"query": {strings.Repeat("a", 16385)}}.Encode(),
		http.StatusBadRequest, "~16385 bytes of PromQL: at most 16384 are parsed", form...)
	s.want(t, "POST /v1/changes", `{"start":"2026-01-02T03:00:00","stop":"2026-01-02T04:00:00","match":"`+strings.Repeat("a", 65537)+`"}`, http.StatusBadRequest,
		"~65537 bytes of PromQL: at most 65536 are parsed", admin...)

	// A timeout that is over is one; stats tell what an evaluation took; trees have all fields of Prometheus 3.
	for _, timeout := range []string{"0", "-1", "-5m", "1e-9"} {
		if timeout != "-5m" {
			s.want(t, "GET /api/v1/query?query=total&timeout="+timeout+at, "", http.StatusServiceUnavailable,
				`~"errorType":"timeout"`, admin...)
		} else {
			bad("GET /api/v1/query?query=total&timeout="+timeout,
				`invalid parameter \"timeout\": cannot parse \"-5m\" to a valid duration`)
		}
	}
	f("GET /api/v1/query?query=total&timeout=10s"+at,
		vector(`{"metric":{"__name__":"total",`+labels+`},"value":[1767322920,"10"]}`))
	f("GET /api/v1/query?query=1%2B1&time=4&stats=all",
		`~{"status":"success","data":{"resultType":"scalar","result":[4,"2"],"stats":{"timings":{"evalTotalTime":`)
	f("GET /api/v1/query_range?query=total&start=2026-01-02T03:00:30Z&end=2026-01-02T03:02:00Z&step=30s&stats=true",
		`~"samples":{"totalQueryableSamples":4,`)
	f("GET /api/v1/parse_query?query=a[5m]",
		`{"status":"success","data":{"anchored":false,"matchers":[{"name":"__name__","type":"=","value":"a"}],"name":"a","offset":0,`+
			`"offsetExpr":null,"range":300000,"rangeExpr":null,"smoothed":false,"startOrEnd":null,"timestamp":null,"type":"matrixSelector"}}`)
	f("GET /api/v1/parse_query?query=a[5m:1m]",
		`~"offset":0,"offsetExpr":null,"range":300000,"rangeExpr":null,"startOrEnd":null,"step":60000,"stepExpr":null,`)

	// Forms, as Grafana sends them, and what vmalert does.
	s.want(t, "POST /api/v1/query", url.Values{"query": {"1+1"}, "time": {"4"}}.Encode(),
		http.StatusOK, `~"2"`, form...)
	s.want(t, "POST /api/v1/query?query=1%2B1&time=4", "", http.StatusOK, `~"2"`,
		append(slices.Clone(admin), "Content-Type", "application/json")...)

	// Errors have Prometheus' form.
	s.want(t, "GET /api/v1/query?query=%ff", "", http.StatusBadRequest, `~{"status":"error","errorType":"bad_data",`,
		admin...)
	s.want(t, "GET /gnocchi/api/v1/label/%ff/values", "", http.StatusBadRequest,
		`{"status":"error","errorType":"bad_data","error":"The path is not UTF-8"}`, admin...)
	s.want(t, "GET /api/v1/query?query=sum(", "", http.StatusBadRequest,
		`~{"status":"error","errorType":"bad_data","error":"invalid parameter \"query\": 1:5: parse error`, admin...)
	s.want(t, "GET /api/v1/query?query=used%2Bon()used"+at, "", http.StatusUnprocessableEntity,
		`~"errorType":"execution"`, admin...)
	s.want(t, "GET /api/v1/query?query=nosuch[100y:1ms]", "", http.StatusUnprocessableEntity,
		`~"errorType":"execution","error":"subqueries have too many steps: 3153600000001 at once, `, admin...)
	s.want(t, "GET /api/v1/query?query=1", "", http.StatusUnauthorized,
		`{"status":"error","errorType":"unauthorized","error":"Unauthorized"}`, "Authorization", "")

	// Answers are compressed for those that take it, also in memory of earlier ones.
	for _, end := range []string{"3:09", "3:05", "3:08"} {
		w := s.call(t, "GET /api/v1/query_range?query=used&start=2026-01-02T03:00:00Z&end=2026-01-02T0"+end+":00Z&step=1",
			"", append(slices.Clone(admin), "Accept-Encoding", "gzip")...)
		if got := w.Header().Get("Content-Length"); w.Header().Get("Content-Encoding") != "gzip" || got != "" {
			t.Errorf("headers %v of %d bytes", w.Header(), w.Body.Len())
		}
		z, err := gzip.NewReader(w.Body)
		check(t, err)
		plain, err := io.ReadAll(z)
		check(t, err)
		if !json.Valid(plain) {
			t.Errorf("%.100s", plain)
		}
	}
}

// PromQL shows a user the same series as the REST API: TestRulesAcrossUsers over PromQL.
func TestPromQLAcrossUsers(t *testing.T) {
	s, users := promqlServer(t)
	seen := map[string]string{ // metrics, and label values
		"a": "free secret total used; bank shop; r1 r2",
		"s": "free secret total used; bank shop; r1 r2",
		"c": "free secret total used; bank shop; r1 r2",
		"m": "free secret total used; bank shop; r1 r2",
		"o": "total used; shop; r1",
		"x": "; ; ",
	}
	list := func(path string, headers []string) string {
		t.Helper()
		var answer struct{ Data []string }
		w := s.want(t, "GET "+path, "", http.StatusOK, "~", headers...)
		check(t, json.Unmarshal(w.Body.Bytes(), &answer))
		return strings.Join(answer.Data, " ")
	}
	for letter, headers := range users {
		got := list("/api/v1/label/__name__/values", headers) + "; " +
			list("/api/v1/label/project_id/values", headers) + "; " + list("/api/v1/label/rack/values", headers)
		if got != seen[letter] {
			t.Errorf("%s sees %q, want %q", letter, got, seen[letter])
		}
		names, _, _ := strings.Cut(seen[letter], ";")
		series := 0
		for _, name := range strings.Fields(names) {
			if name != "free" { // without measures
				series++
			}
			if name == "used" && letter != "o" {
				series++
			}
		}
		for _, path := range []string{"query?query={__name__!=\"\"}&time=2026-01-02T03:02:00Z",
			"query_range?query={__name__!=\"\"}&start=2026-01-02T03:02:00Z&end=2026-01-02T03:02:00Z&step=60"} {
			w := s.want(t, "GET /api/v1/"+path, "", http.StatusOK, "~", headers...)
			if got := strings.Count(w.Body.String(), `"metric":`); got != series {
				t.Errorf("%s: %s: %d series, want %d: %s", letter, path, got, series, w.Body)
			}
		}
		for _, path := range []string{"labels", "series?match[]={__name__!=\"\"}", "metadata", "status/tsdb",
			"query?query=topk(9,used)&time=2026-01-02T03:02:00Z"} {
			w := s.want(t, "GET /api/v1/"+path, "", http.StatusOK, "~", headers...)
			for _, hidden := range []string{"secret", "bank", "r2", "6a02"} {
				if strings.Contains(w.Body.String(), hidden) && strings.Contains("ox", letter) {
					t.Errorf("%s: %s shows %s: %s", letter, path, hidden, w.Body)
				}
			}
			if strings.Contains(w.Body.String(), "total") && letter == "x" {
				t.Errorf("%s: %s shows total", letter, path)
			}
		}
	}
}

// Prometheus' API and Gnocchi's have no path in common, with any prefix.
func TestPromQLStandsBesideGnocchi(t *testing.T) {
	for _, prefix := range []string{"", "/api", "/api/v1", "/v1", "/gnocchi"} {
		s := newServer(t, func(o *api.Options) { o.Prefix = prefix })
		routes := map[string]int{} // by method and path, names of parameters left out
		check(t, chi.Walk(s.handler.(*api.Handler).Handler.(chi.Routes),
			func(method, route string, _ http.Handler, _ ...func(http.Handler) http.Handler) error {
				routes[method+" "+route]++
				return nil
			}))
		matches := func(pattern, path string) bool {
			a, b := strings.Split(pattern, "/"), strings.Split(path, "/")
			return slices.EqualFunc(a, b, func(a, b string) bool {
				return a == b || strings.HasPrefix(a, "{") || strings.HasPrefix(b, "{")
			})
		}
		// A route of Prometheus' that matches one of Gnocchi's takes its requests.
		isPromQL := func(route string) bool {
			_, path, _ := strings.Cut(route, " ")
			rest, ok := strings.CutPrefix(path, "/api/v1/")
			if !ok {
				rest, ok = strings.CutPrefix(path, prefix+"/api/v1/")
			}
			first, _, _ := strings.Cut(rest, "/")
			return ok && slices.Contains([]string{"query", "query_range", "series", "labels", "label", "metadata",
				"format_query", "parse_query", "query_exemplars", "rules", "alerts", "targets", "status", "write"},
				first) &&
				!strings.HasSuffix(path, "/v1/status")
		}
		promql := 0
		for route := range routes {
			if !isPromQL(route) {
				continue
			}
			promql++
			for other := range routes {
				if route != other && !isPromQL(other) && matches(route, other) {
					t.Errorf("prefix %q: %s meets %s", prefix, route, other)
				}
			}
		}
		if promql < 20 {
			t.Errorf("prefix %q: %d routes", prefix, promql)
		}
	}
}
