package api_test

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// hundredths matches rows whose values have two decimals at most.
var hundredths = regexp.MustCompile(`^\[(\[[^]]*, -?[0-9]+\.[0-9]{1,2}\](, )?)+\]$`)

func parseRows(t *testing.T, text string) (rows [][3]any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &rows); err != nil {
		t.Fatalf("%s: %s", err, text)
	}
	return rows
}

// closeTo reports whether two answers have the same rows, up to the order in which floats were added.
func closeTo(t *testing.T, got, want string) bool {
	t.Helper()
	return slices.EqualFunc(parseRows(t, got), parseRows(t, want), func(a, b [3]any) bool {
		x, y := a[2].(float64), b[2].(float64)
		return a[0] == b[0] && a[1] == b[1] && math.Abs(x-y) <= 1e-12*max(math.Abs(y), 1)
	})
}

// The mean of finite values is finite, where their sum is not: as stored, of several groups and metrics, and in PromQL.
func TestMeansOfHugeSums(t *testing.T) {
	s := newServer(t, nil)
	s.create(t, "/v1/archive_policy", `{"name":"h","definition":[{"granularity":60},{"granularity":3600}],`+
		`"aggregation_methods":["mean","sum","count"]}`, "user", "admin")
	six := func(minute int) string {
		var rows []string
		for i := range 6 {
			rows = append(rows, fmt.Sprintf(`{"timestamp":%d,"value":1.7e308}`, 60*minute+10*i))
		}
		return strings.Join(rows, ",")
	}
	ids := s.measured(t, "h", "["+six(0)+","+six(1)+"]", "["+six(0)+"]")
	one := `/v1/metric/` + ids[0] + `/measures?aggregation=mean&granularity=`
	row := func(clock, width string) string { return `["1970-01-01T` + clock + `+00:00", ` + width + `, 1.7e+308]` }
	s.want(t, "GET "+one+"60", "", 200, "["+row("00:00:00", "60.0")+", "+row("00:01:00", "60.0")+"]")
	s.want(t, "GET "+one+"3600", "", 200, "["+row("00:00:00", "3600.0")+"]")
	s.want(t, "GET "+one+"60&resample=120&exact=true", "", 200, "["+row("00:00:00", "120.0")+"]")
	s.want(t, "GET "+strings.Replace(one, "=mean", "=sum", 1)+"3600", "", 200, "~Infinity")
	s.want(t, "GET /v1/aggregation/metric?aggregation=mean&exact=true&granularity=60&metric="+ids[0]+"&metric="+ids[1], "",
		200, "["+row("00:00:00", "60.0")+", "+row("00:01:00", "60.0")+"]")
	s.create(t, "/v1/resource/generic", `{"id":"6f1a4f8e-3b0a-4c5e-9b43-6b8c1a2f6a01","metrics":{"huge":"`+ids[0]+`"}}`)
	s.want(t, "GET /api/v1/query?query=avg_over_time(huge{__granularity__=\"60\"}[2m])&time=120", "", 200, `~"value":[120,"17000000000000000000`)
	s.want(t, "GET /api/v1/query?query=avg_over_time(huge{__granularity__=\"3600\"}[1h])&time=3600", "", 200, `~"value":[3600,"17000000000000000000`)
}

// exactMethods are those that follow from moments.
var exactMethods = []string{"mean", "sum", "min", "max", "std", "count"}

// An exact combination equals the answer of one metric with all the measures: across metrics with different numbers of
// measures, over time, and both. Its sums are even closer: of two decimals there is nothing beyond the second.
func TestExact(t *testing.T) {
	s := newServer(t, nil)
	methods := `["mean","sum","min","max","std","count","first","last","median","rate:mean","rate:max"]`
	for _, granularity := range []int{60, 3600} {
		s.create(t, "/v1/archive_policy",
			fmt.Sprintf(`{"name":"p%d","definition":[{"granularity":%d}],"aggregation_methods":%s}`, granularity,
				granularity, methods), "user", "admin")
	}
	random := rand.New(rand.NewPCG(1, 2))
	create := func(policy string) string {
		w := s.want(t, "POST /v1/metric", fmt.Sprintf(`{"archive_policy_name":%q}`, policy), 201, "~")
		return strings.Split(strings.Split(w.Body.String(), `"id": "`)[1], `"`)[0]
	}
	var ids, rows []string
	all := create("p60")
	// the last one of all measures
	hours := []string{create("p3600"), create("p3600"), create("p3600"), create("p3600")}
	for i := range 3 {
		id := create("p60")
		ids = append(ids, id)
		var own []string
		for minute := range 300 {
			if random.IntN(4) == 0 {
				continue // a gap
			}
			for range 1 + i*random.IntN(6) {
				own = append(own, fmt.Sprintf(`{"timestamp":%d.%06d,"value":%d.%02d}`,
					1704067200+60*minute+random.IntN(60), random.IntN(1e6), random.IntN(2000)-1000, random.IntN(100)))
			}
		}
		for _, to := range []string{id, hours[i]} {
			s.want(t, "POST /v1/metric/"+to+"/measures", "["+strings.Join(own, ",")+"]", 202, "")
		}
		rows = append(rows, own...)
	}
	for _, to := range []string{all, hours[3]} {
		s.want(t, "POST /v1/metric/"+to+"/measures", "["+strings.Join(rows, ",")+"]", 202, "")
	}
	answer := func(request, body string) string {
		t.Helper()
		return s.want(t, request, body, 200, "~[").Body.String()
	}
	same := func(what, got, want string) {
		t.Helper()
		if !closeTo(t, got, want) || strings.Count(want, "[") < 3 {
			t.Errorf("%s:\n%.300s\nwant\n%.300s", what, got, want)
		}
		if strings.HasPrefix(what, "sum") && !hundredths.MatchString(got) {
			t.Errorf("%s: %s", what, got)
		}
	}
	for _, id := range append(append(slices.Clone(ids), hours...), all) {
		answer("GET /v1/metric/"+id+"/measures?refresh=true&aggregation=count", "")
	}
	stored := 0 // measures; a few have the same timestamp
	for _, row := range parseRows(t, answer("GET /v1/metric/"+all+"/measures?aggregation=count", "")) {
		stored += int(row[2].(float64))
	}
	metrics := func(method string) string {
		return "(metric (" + strings.Join(ids, " "+method+") (") + " " + method + "))"
	}
	for _, method := range exactMethods {
		want := answer("GET /v1/metric/"+all+"/measures?aggregation="+method, "")
		wantHours := answer("GET /v1/metric/"+hours[3]+"/measures?aggregation="+method, "")
		operate := func(operation string) string {
			whole := answer("POST /v1/aggregates?exact=true", fmt.Sprintf(`{"operations":%q}`, operation))
			return strings.TrimSuffix(strings.TrimPrefix(whole, `{"measures": {"aggregated": `), "}}")
		}
		same(method+" across", operate("(aggregate "+method+" "+metrics(method)+")"), want)
		same(method+" across hours", operate("(aggregate "+method+" (resample "+method+" 3600 "+metrics(method)+"))"),
			wantHours)
		same(method+" of hours across", operate("(resample "+method+" 3600 (aggregate "+method+" "+
			metrics(method)+"))"), wantHours)
		query := url.Values{"metric": ids, "aggregation": {method}, "exact": {"true"}}
		same(method+" by the older API", answer("GET /v1/aggregation/metric?"+query.Encode(), ""), want)
		query.Set("granularity", "60")
		query.Set("resample", "3600")
		same(method+" by the older API, hours", answer("GET /v1/aggregation/metric?"+query.Encode(), ""), wantHours)
		// A start in the middle of an hour counts all of it.
		query.Set("start", "2024-01-01T01:20:00")
		at := strings.Index(wantHours, `["2024-01-01T01:00`)
		same(method+" from an hour on", answer("GET /v1/aggregation/metric?"+query.Encode(), ""), "["+wantHours[at:])
	}
	for _, method := range append(slices.Clone(exactMethods), "first", "last", "rate:mean", "rate:max") {
		for i, id := range ids {
			want := answer("GET /v1/metric/"+hours[i]+"/measures?aggregation="+method, "")
			same(method+" of hours", answer("GET /v1/metric/"+id+
				"/measures?exact=true&granularity=60&resample=3600&aggregation="+method, ""), want)
			same(method+" of hours",
				answer("GET /v1/aggregation/metric?exact=true&granularity=60&resample=3600&aggregation="+method+
					"&metric="+id, ""), want)
		}
	}
	// A mean of means is another number, and stays the default.
	if mean := answer("POST /v1/aggregates", fmt.Sprintf(`{"operations":"(aggregate mean %s)"}`,
		metrics("mean"))); strings.Contains(mean,
		answer("GET /v1/metric/"+all+"/measures?aggregation=mean", "")) {
		t.Error("the mean of means is exact")
	}
	// Operations accept combined series, also where hours stand beside minutes in no operation.
	operations := fmt.Sprintf(`{"operations":"(- (aggregate sum %[1]s) (* 2 (aggregate sum %[1]s)))"}`, metrics("sum"))
	if got := answer("POST /v1/aggregates?exact=true", operations); !strings.HasPrefix(got,
		`{"measures": {"aggregated": [["2024`) {
		t.Error(got)
	}
	single := answer("POST /v1/aggregates?exact=true",
		fmt.Sprintf(`{"operations":"(resample mean 3600 %s)"}`, metrics("mean")))
	for i, id := range ids {
		want := answer("GET /v1/metric/"+hours[i]+"/measures?aggregation=mean", "")
		_, got, _ := strings.Cut(single, fmt.Sprintf(`%q: {"mean": `, id))
		got, _, _ = strings.Cut(got, "}")
		same("hours of one metric", got, want)
	}
	months := answer("GET /v1/metric/"+all+"/measures?exact=true&granularity=60&resample=M&aggregation=count", "")
	if want := fmt.Sprintf(`[["2024-01-01T00:00:00+00:00", "M", %d.0]]`, stored); months != want {
		t.Errorf("months are %s, want %s", months, want)
	}

	refuse := func(query, operation, want string) {
		t.Helper()
		w := s.want(t, "POST /v1/aggregates?exact="+query, fmt.Sprintf(`{"operations":%q}`, operation), 400, "~exact")
		if !strings.Contains(w.Body.String(), want) {
			t.Errorf("%s lacks %s", w.Body, want)
		}
	}
	refuse("perhaps", "(aggregate mean "+metrics("mean")+")", "exact")
	refuse("true&use_history=true", "(aggregate mean "+metrics("mean")+")", "use_history")
	refuse("true", metrics("mean"), "has to stand in an aggregate or resample")
	refuse("true", "(+ 1 "+metrics("mean")+")", "has to stand in an aggregate or resample")
	refuse("true", "(aggregate max "+metrics("mean")+")", "max of mean, which has to be the same method")
	refuse("true", "(aggregate var "+metrics("mean")+")", "same method")
	refuse("true", "(aggregate median "+metrics("median")+")", "median does not follow")
	refuse("true", "(aggregate mean (metric ("+ids[0]+" mean) ("+ids[1]+" max)))", "several aggregation methods")
	refuse("true", "(aggregate mean (aggregate mean "+metrics("mean")+"))", "an aggregate of an aggregate")
	refuse("true", "(resample mean 60 (resample mean 60 "+metrics("mean")+"))", "a resample of a resample")
	refuse("true", "(aggregate mean (rolling mean 2 "+metrics("mean")+"))", "only metrics")
	s.want(t, "POST /v1/aggregates?exact=true", fmt.Sprintf(`{"operations":"(resample mean 90 %s)"}`, metrics("mean")),
		400, "~Groups of 1m0s do not fit into those from")
	s.want(t, "POST /v1/aggregates?exact=true", fmt.Sprintf(`{"operations":"(resample mean 30 %s)"}`, metrics("mean")),
		400, "~do not fit")
	measures := "GET /v1/metric/" + ids[0] + "/measures?granularity=60&exact="
	s.want(t, measures+"true", "", 400, `~"detail": "exact"`)
	s.want(t, measures+"maybe", "", 400, "~exact")
	s.want(t, measures+"true&resample=90", "", 400, `~"detail": "exact"`)
	s.want(t, measures+"true&resample=3600&aggregation=median", "", 400, `~median does not follow`)
	aggregation := "GET /v1/aggregation/metric?exact=true&metric=" + ids[0] + "&metric=" + ids[1]
	s.want(t, aggregation+"&aggregation=mean&reaggregation=sum", "", 400, `~"detail": "exact"`)
	s.want(t, aggregation+"&aggregation=first", "", 400, "~first")
}
