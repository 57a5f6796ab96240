package api_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// Percentiles of an archive policy with sketches are within 1.1 % of those of all measures: of a group, of several
// groups, and of several metrics. Without sketches they are refused where they would be percentiles of percentiles.
func TestSketches(t *testing.T) {
	s := newServer(t, nil)
	policy := func(name, methods string) string {
		return `{"name":"` + name + `","back_window":1,"definition":[{"granularity":60},{"granularity":3600}],"aggregation_methods":` + methods + `}`
	}
	s.create(t, "/v1/archive_policy", policy("s", `["mean","sketch"]`), "user", "admin")
	s.create(t, "/v1/archive_policy", policy("p", `["mean","95pct"]`), "user", "admin")
	r := rand.New(rand.NewPCG(3, 5))
	latencies := func() (body string, values []float64) {
		var rows []string
		for i := range 7200 / 5 {
			v := math.Exp(r.NormFloat64())
			rows, values = append(rows, fmt.Sprintf(`{"timestamp":%d,"value":%v}`, 5*i, v)), append(values, v)
		}
		return "[" + strings.Join(rows, ",") + "]", values
	}
	a, ofA := latencies()
	b, ofB := latencies()
	ids := s.measured(t, "s", a, b)
	near := func(path, operation string, want ...float64) {
		t.Helper()
		method := "GET "
		if operation != "" {
			method = "POST "
		}
		w := s.want(t, method+path, operation, 200, "~[")
		body := w.Body.String()
		if warned := strings.Contains(w.Header().Get("Warning"), "within 1.1 %"); !warned {
			t.Errorf("%s %s: no warning", path, operation)
		}
		if at := strings.Index(body, `"aggregated": `); at >= 0 {
			body = strings.TrimRight(body[at+len(`"aggregated": `):], "}")
		}
		rows := parseRows(t, body)
		if len(rows) != len(want) {
			t.Fatalf("%s %s: %d rows, want %d: %s", path, operation, len(rows), len(want), body)
		}
		for i, row := range rows {
			if got := row[2].(float64); math.Abs(got-want[i]) > 0.011*want[i] || got == want[i] {
				t.Errorf("%s %s, row %d: %v, want %v", path, operation, i, got, want[i])
			}
		}
	}
	p95 := func(values ...float64) float64 {
		values = slices.Sorted(slices.Values(values))
		rank := 0.95 * float64(len(values)-1)
		low, part := math.Floor(rank), rank-math.Floor(rank)
		return values[int(low)]*(1-part) + values[min(int(low)+1, len(values)-1)]*part
	}
	of := func(values []float64, from, to int) []float64 { return slices.Clone(values[from/5 : to/5]) }
	measures := "/v1/metric/" + ids[0] + "/measures?aggregation=95pct&granularity="
	near(measures+"3600", "", p95(of(ofA, 0, 3600)...), p95(of(ofA, 3600, 7200)...))
	near(measures+"3600&resample=7200", "", p95(of(ofA, 0, 7200)...))
	near(measures+"60&resample=1800&start=1800&stop=5400", "", p95(of(ofA, 1800, 3600)...), p95(of(ofA, 3600, 5400)...))
	near(measures+"60&resample=7200&exact=true", "", p95(ofA...))
	near("/v1/metric/"+ids[0]+"/measures?aggregation=median&granularity=60&resample=7200", "", func() float64 {
		all := slices.Sorted(slices.Values(ofA))
		return (all[719] + all[720]) / 2
	}())
	all := p95(append(slices.Clone(ofA), ofB...)...)
	near("/v1/aggregates?exact=true&granularity=60",
		operate("(resample 95pct 7200 (aggregate 95pct (metric (A 95pct) (B 95pct))))", ids), all)
	near("/v1/aggregates?exact=true&granularity=3600", operate("(aggregate 95pct (metric (A 95pct) (B 95pct)))", ids),
		p95(append(of(ofA, 0, 3600), of(ofB, 0, 3600)...)...),
		p95(append(of(ofA, 3600, 7200), of(ofB, 3600, 7200)...)...))
	near("/v1/aggregation/metric?exact=true&granularity=3600&aggregation=95pct&resample=7200&metric="+ids[0]+"&metric="+ids[1], "", all)

	near("/v1/aggregation/metric?granularity=3600&aggregation=95pct&metric="+ids[0], "", p95(of(ofA, 0, 3600)...), p95(of(ofA, 3600, 7200)...))
	near("/v1/aggregates?granularity=3600", operate("(aggregate max (metric A 95pct))", ids[:1]), p95(of(ofA, 0, 3600)...), p95(of(ofA, 3600, 7200)...))

	// A late measure changes the sketches of its groups.
	s.want(t, "POST /v1/metric/"+ids[0]+"/measures", `[{"timestamp":3601,"value":50},{"timestamp":3602,"value":60},{"timestamp":3603,"value":70}]`, 202, "")
	s.want(t, "GET /v1/metric/"+ids[0]+"/measures?refresh=true", "", 200, "~[")
	near(measures+"60&start=3600&stop=3660", "", p95(append(of(ofA, 3600, 3660), 50, 60, 70)...))

	s.want(t, "GET /v1/metric/"+ids[0]+"/measures?aggregation=sketch", "", 400, "~A sketch is no number")
	s.want(t, "GET "+measures+"60&resample=90", "", 400, `~"detail": "resample"`)
	s.want(t, "GET "+strings.Replace(measures, "95pct", "rate:95pct", 1)+"60", "", 404, "~rate:95pct")
	s.want(t, "POST /v1/aggregates", operate("(metric A sketch)", ids), 404, "~sketch")
	plain := s.measured(t, "p", a)
	s.want(t, "GET /v1/metric/"+plain[0]+"/measures?aggregation=95pct&granularity=60&resample=3600&exact=true", "", 400, "~no sketch")
	s.want(t, "POST /v1/aggregates?exact=true", operate("(aggregate 95pct (metric (A 95pct) (B 95pct)))",
		[]string{ids[0], plain[0]}), 400, "~no sketch")
	s.want(t, "GET /v1/metric/"+plain[0]+"/measures?aggregation=90pct", "", 404, "~90pct")
}
