package api_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// Folds of an archive policy are those of all measures: of a group, of wider groups, and of several metrics. Where they
// would be folds of folds they are refused, and what does not parse is named.
func TestFolds(t *testing.T) {
	s := newServer(t, nil)
	policy := func(name, methods string) string {
		return `{"name":"` + name + `","back_window":1,"definition":[{"granularity":60},{"granularity":3600}],` +
			`"aggregation_methods":` + methods + `}`
	}
	s.want(t, "POST /v1/archive_policy",
		policy("p", `["mean","share_above(9.0e1)","count_below(-.5)","sum(x*x)","difference"]`), 201,
		`~["mean", "sum(x*x)", "difference", "share_above(90)", "count_below(-0.5)"]`, "user", "admin")
	s.want(t, "POST /v1/archive_policy", policy("q", `["mean","share_above(x)"]`), 400,
		`~aggregation method \"share_above(x)\": threshold \"x\" is not a decimal number @ `+
			`data['aggregation_methods'][1]`,
		"user", "admin")
	s.want(t, "POST /v1/archive_policy", policy("q", `["+share_above"]`), 400, `~not a valid value`, "user", "admin")
	var many []string
	for i := range 33 {
		many = append(many, fmt.Sprintf("count_above(%d)", i))
	}
	listed, err := json.Marshal(many)
	check(t, err)
	s.want(t, "POST /v1/archive_policy", policy("q", string(listed)), 400,
		"~at most 32 aggregation methods with a threshold", "user", "admin")
	var same []string
	for i := range 33 {
		same = append(same, fmt.Sprintf(`"count_above(0.5%0*d)"`, i, 0))
	}
	s.want(t, "POST /v1/archive_policy", policy("one", "["+strings.Join(same, ",")+"]"), 201,
		`~"aggregation_methods": ["count_above(0.5)"]`, "user", "admin")
	a := `[{"timestamp":0,"value":95},{"timestamp":10,"value":90},{"timestamp":50,"value":-1},{"timestamp":70,"value":100}]`
	b := `[{"timestamp":20,"value":3},{"timestamp":80,"value":4},{"timestamp":100,"value":91}]`
	ids := s.measured(t, "p", a, b)
	measures := "GET /v1/metric/" + ids[0] + "/measures?granularity=60&aggregation="
	at := func(seconds, width, value string) string {
		return `["1970-01-01T00:0` + seconds + `:00+00:00", ` + width + `, ` + value + `]`
	}
	third := "0.3333333333333333"
	s.want(t, measures+"share_above(90)", "", 200, "["+at("0", "60.0", third)+", "+at("1", "60.0", "1.0")+"]")
	s.want(t, measures+"share_above(90.00)", "", 200, "["+at("0", "60.0", third)+", "+at("1", "60.0", "1.0")+"]")
	s.want(t, measures+"count_below(-0.5)", "", 200, "["+at("0", "60.0", "1.0")+", "+at("1", "60.0", "0.0")+"]")
	s.want(t, measures+"sum(x*x)", "", 200, "["+at("0", "60.0", "17126.0")+", "+at("1", "60.0", "10000.0")+"]")
	s.want(t, measures+"difference", "", 200, "["+at("0", "60.0", "-96.0")+", "+at("1", "60.0", "0.0")+"]")
	s.want(t, measures+"share_above(91)", "", 404, "~share_above(91)")
	s.want(t, measures+"share_above(1e40)", "", 400, "~out of range")

	// Wider groups, and several metrics.
	s.want(t, measures+"share_above(90)&resample=3600", "", 200, "["+at("0", "3600.0", "0.5")+"]")
	s.want(t, measures+"count_below(-0.5)&resample=3600&exact=true", "", 200, "["+at("0", "3600.0", "1.0")+"]")
	s.want(t, measures+"difference&resample=120", "", 200, "["+at("0", "120.0", "5.0")+"]")
	s.want(t, measures+"sum(x*x)&resample=120", "", 200, "["+at("0", "120.0", "27126.0")+"]")
	ask := func(query, operations string, status int, want string) {
		t.Helper()
		s.want(t, "POST /v1/aggregates?granularity=60"+query, operate(operations, ids), status, want)
	}
	share := "(metric (A share_above(90)) (B share_above(90)))"
	ask("&exact=true", "(aggregate share_above(90) "+share+")", 200,
		`{"measures": {"aggregated": [`+at("0", "60.0", "0.25")+", "+at("1", "60.0", "0.6666666666666666")+`]}}`)
	ask("&exact=true", "(resample share_above(90) 3600 (aggregate share_above(90) "+share+"))", 200,
		`{"measures": {"aggregated": [`+at("0", "3600.0", "0.42857142857142855")+`]}}`)
	ask("", "(aggregate max "+share+")", 200,
		`{"measures": {"aggregated": [`+at("0", "60.0", third)+", "+at("1", "60.0", "1.0")+`]}}`)
	ask("", "(aggregate max (resample share_above(50) 3600 (metric A mean)))", 200, // of means
		`{"measures": {"aggregated": [`+at("0", "3600.0", "1.0")+`]}}`)
	ask("", "(aggregate share_above(90) "+share+")", 400, "~exact=true")
	ask("", "(resample share_above(90) 3600 (metric A share_above(90)))", 400, "~exact=true")
	for _, operand := range []string{"(absolute (metric A share_above(90)))", "(* 2 (metric A count_below(-0.5)))",
		"(rolling mean 1 (metric A share_above(90)))", "(resample mean 120 (aggregate sum " + share + "))",
		"(/ (metric A mean) (metric A difference))", "(resample sum(x*x) 120 (metric A mean))"} {
		ask("", "(resample share_above(0.5) 3600 "+operand+")", 400, "~follows from their measures")
	}
	ask("&exact=true", "(aggregate difference (metric (A difference) (B difference)))", 400, "~does not follow")
	ask("", "(rolling share_above(90) 2 (metric A mean))", 400, "~no such aggregation method")
	ask("", "(metric A share_above(91))", 404, "~share_above(91)")
	both := "&metric=" + ids[0] + "&metric=" + ids[1]
	wider := "GET /v1/aggregation/metric?granularity=60&resample=3600&aggregation=share_above(90)" + both
	s.want(t, wider+"&exact=true", "", 200,
		"["+at("0", "3600.0", "0.42857142857142855")+"]")
	s.want(t, "GET /v1/aggregation/metric?granularity=60&aggregation=share_above(90)"+both, "", 400, "~exact=true")
	s.want(t, wider+"&reaggregation=mean", "", 400, "~exact=true")

	// A late measure changes its groups.
	s.want(t, "POST /v1/metric/"+ids[0]+"/measures", `[{"timestamp":20,"value":90.5}]`, 202, "")
	s.want(t, measures+"share_above(90)&refresh=true", "", 200,
		"["+at("0", "60.0", "0.5")+", "+at("1", "60.0", "1.0")+"]")
}
