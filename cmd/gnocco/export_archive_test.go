package main_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// archivePolicies have every kind of column.
var archivePolicies = []string{
	secondsPolicy,
	`{"name":"all","back_window":2,"definition":[{"granularity":"1s","timespan":"1h"},{"granularity":"1m","points":90}],
		"aggregation_methods":["mean","sum","min","max","std","count","first","last","median","95pct","rate:mean",
		"rate:max","share_above(20)","count_below(-0.5)"]}`,
	`{"name":"counted","definition":[{"granularity":"10s"},{"granularity":"1h"}],"aggregation_methods":["last",
		"increase","resets","count"]}`,
	`{"name":"spread","definition":[{"granularity":"0.5s"},{"granularity":"5m"}],"aggregation_methods":["sketch","max"]}`,
}

// All that a server has goes into an empty one, to the bit, and the metrics of both go on alike.
func TestArchivesGoToAnotherServer(t *testing.T) {
	withoutCredentials(t)
	metrics := 1_200 // several requests of a thousand
	if testing.Short() {
		metrics = 400
	}
	command := func(s *served, stdin string, args ...string) string {
		t.Helper()
		stdout, stderr, status := run(t, stdin, append(args, "--url", s.url)...)
		if status != 0 {
			t.Fatalf("%q: status %d, %s", args, status, stderr)
		}
		return stdout
	}
	data := filepath.Join(t.TempDir(), "data")
	first := serve(t, "--data", data)
	prepareServer(first)
	fillServer(t, first, metrics, 1767225600)
	export := func(s *served) string { return sortedMetrics(command(s, "", "export", "archive")) }
	file := command(first, "", "export", "archive")
	want := sortedMetrics(file)
	for _, part := range []string{`"archive_policy":{"name":"spread"`, `"archive_policy_rule":{"name":"odd"`,
		`"type":"counter"`, `"__name__":"lat`, `"resource":{"colour":"red","floor":2.5,"id":"room:1 ü"`, `"content":"`,
		`"unit":"kW"`, `"metric":{"archive_policy_name":"all","name":"alone"}`} {
		if !strings.Contains(want, part) {
			t.Errorf("the export lacks %s", part)
		}
	}
	if n := strings.Count(want, `{"metric":`); n < metrics {
		t.Fatalf("%d metrics: %.900s", n, want)
	}
	second := serve(t, "--data", filepath.Join(t.TempDir(), "data"))
	for _, about := range []string{"an import", "another import"} {
		command(second, file, "import", "archive", "-")
		if got := export(second); got != want {
			t.Fatalf("after %s, the export differs: %s", about, firstDifference(got, want))
		}
	}
	// The bytes are not only carried along: the public API reads them alike, at each granularity and by each method.
	sameAggregates := func() {
		t.Helper()
		for _, of := range []string{"m0 sum", "m1 mean", "m1 std", "m1 95pct", "m1 rate:max", "m1 first", "m1 share_above(20)",
			"m1 count_below(-0.5)", "m2 increase", "m2 resets", "m3 max", "m3 95pct"} {
			name, method, _ := strings.Cut(of, " ")
			path := "/v1/resource/room/room:1%20%C3%BC/metric/" + name + "/measures?refresh=true&aggregation=" + method
			var rows [2]json.RawMessage
			for i, s := range []*served{first, second} {
				s.call(http.MethodGet, path, "", http.StatusOK, &rows[i])
			}
			if string(rows[0]) != string(rows[1]) || len(rows[0]) < 90 {
				t.Errorf("%s: %.200s and %.200s", path, rows[0], rows[1])
			}
		}
	}
	sameAggregates()
	for _, s := range []*served{first, second} {
		fillServer(t, s, metrics/2, 1767225700)
		s.call(http.MethodPost, "/v1/batch/resources/metrics/measures", `{"room:1 ü":{"m0":[{"timestamp":1767225607.5,
			"value":9}],"m1":[{"timestamp":1767225599,"value":1},{"timestamp":1767229600,"value":7}],
			"m2":[{"timestamp":1767229600,"value":3}],"m3":[{"timestamp":1767229600,"value":3}]}}`, http.StatusAccepted, nil)
	}
	sameAggregates()
	if got, want := export(second), export(first); got != want {
		t.Errorf("after the same measures the servers differ: %s", firstDifference(got, want))
	}
	restoreSelected(t, first, data, command)
}

// restoreSelected brings metrics of a backup back into the server that it is of.
func restoreSelected(t *testing.T, s *served, data string, command func(*served, string, ...string) string) {
	t.Helper()
	repository := filepath.Join(t.TempDir(), "backups")
	if _, stderr, status := run(t, "", "backup", "--data", data, "--to", repository); status != 0 {
		t.Fatal(stderr)
	}
	const of, series = `{original_resource_id="room:2 ü"}`, `hits{host="h3"}`
	want := command(s, "", "export", "archive", of, series)
	restore := func(selectors ...string) (stderr string, status int) {
		t.Setenv("TMPDIR", t.TempDir())
		args := []string{"restore", "--from", repository, "--url", s.url}
		for _, selector := range selectors {
			args = append(args, "--select", selector)
		}
		_, stderr, status = run(t, "", args...)
		if left, err := filepath.Glob(os.Getenv("TMPDIR") + "/gnocco-restore-*"); err != nil || len(left) > 0 {
			t.Errorf("restore left %q (%v)", left, err)
		}
		return stderr, status
	}
	if stderr, status := restore(of, series); status != 0 || !strings.Contains(stderr,
		"5 metrics there, 0 new or completed") {
		t.Errorf("of what is there: status %d, %s", status, stderr)
	}
	command(s, "", "delete", of, series, "--yes")
	if stderr, status := restore(of, series); status != 0 || !strings.Contains(stderr, "5 new or completed") {
		t.Errorf("of what was deleted: status %d, %s", status, stderr)
	}
	if got := command(s, "", "export", "archive", of, series); got != want {
		t.Errorf("the restored metrics differ: %s", firstDifference(got, want))
	}
	s.call(http.MethodPost, "/v1/batch/resources/metrics/measures",
		`{"room:2 ü":{"m0":[{"timestamp":1767239600,"value":9}]}}`, http.StatusAccepted, nil)
	if stderr, status := restore("room:2 ü/m0"); status != 1 || !strings.Contains(stderr, "room:2 ü/m0: ") ||
		!strings.Contains(stderr, "has other measures: delete it first") {
		t.Errorf("of a metric with other measures: status %d, %s", status, stderr)
	}
	if stderr, status := restore("nothing/there"); status != 1 || !strings.Contains(stderr, "no metric is nothing/there") {
		t.Errorf("of no metric: status %d, %s", status, stderr)
	}
}

// prepareServer creates what the metrics of fillServer need, and a metric that is alone.
func prepareServer(s *served) {
	for _, policy := range archivePolicies {
		s.call(http.MethodPost, "/v1/archive_policy", policy, http.StatusCreated, nil)
	}
	s.call(http.MethodPost, "/v1/archive_policy_rule",
		`{"name":"odd","metric_pattern":"odd.*","archive_policy_name":"all"}`, http.StatusCreated, nil)
	s.call(http.MethodPost, "/v1/resource_type", `{"name":"room","attributes":{"floor":{"type":"number","min":-2,
		"required":false},"colour":{"type":"string","max_length":9,"required":true}}}`, http.StatusCreated, nil)
	s.call(http.MethodPost, "/v1/metric", `{"name":"alone","archive_policy_name":"all"}`, http.StatusCreated, nil)
}

// fillServer sends measures from a time on to metrics of every kind: of resources, of none, and pushed series.
func fillServer(t *testing.T, s *served, metrics, from int) {
	t.Helper()
	random := rand.New(rand.NewPCG(5, uint64(from)))
	policies := []string{"seconds", "all", "counted", "spread"}
	rooms := metrics / 6
	for first := 1; first <= rooms; first += 500 {
		last := min(first+499, rooms)
		var create, send []string
		for room := first; room <= last; room++ {
			colour, floor := "red", ""
			if room%2 == 1 {
				floor = fmt.Sprintf(`"floor":%v,`, float64(room)*2.5)
			}
			var kept, sent []string
			for m, policy := range policies {
				kept = append(kept, fmt.Sprintf(`"m%d":{"archive_policy_name":%q,"unit":"kW"}`, m, policy))
				value, list := random.NormFloat64()*1e-9, []string{}
				for i := range 20 {
					value += float64(i) + random.Float64()
					list = append(list, fmt.Sprintf(`{"timestamp":%d.%d,"value":%v}`, from+i*37/10, i%10, value))
				}
				sent = append(sent, fmt.Sprintf(`"m%d":[%s]`, m, strings.Join(list, ",")))
			}
			create = append(create, fmt.Sprintf(`{"id":"room:%d ü","colour":%q,%s"metrics":{%s}}`, room, colour, floor,
				strings.Join(kept, ",")))
			send = append(send, fmt.Sprintf(`"room:%d ü":{%s}`, room, strings.Join(sent, ",")))
		}
		s.callAny(http.MethodPost, "/v1/batch/resources/room", "["+strings.Join(create, ",")+"]", nil, http.StatusCreated,
			http.StatusConflict)
		s.call(http.MethodPost, "/v1/batch/resources/metrics/measures", "{"+strings.Join(send, ",")+"}",
			http.StatusAccepted, nil)
	}
	text := "# TYPE hits counter\n# TYPE lat histogram\n# TYPE heat gauge\n"
	for i := range metrics / 3 {
		at := (from + i%50) * 1000
		text += fmt.Sprintf("hits{host=\"h%d\",q=\"a \\\"b\"} %d %d\n", i, i*7, at)
		if i%4 == 0 {
			text += fmt.Sprintf("heat{host=\"h%d\"} %v %d\n", i, random.NormFloat64(), at)
		}
		if i%40 == 0 {
			text += fmt.Sprintf("lat_bucket{host=\"h%[1]d\",le=\"1\"} %[2]d %[3]d\nlat_bucket{host=\"h%[1]d\",le=\"+Inf\"} "+
				"%[4]d %[3]d\nlat_sum{host=\"h%[1]d\"} %[2]d.5 %[3]d\nlat_count{host=\"h%[1]d\"} %[4]d %[3]d\n", i, i, at, i*2)
		}
	}
	s.call(http.MethodPost, "/api/v1/import/prometheus", text, http.StatusNoContent, nil)
	s.call(http.MethodPost, "/v1/metrics", fmt.Sprintf(`{"resourceMetrics":[{"scopeMetrics":[{"metrics":[{"name":"native",
		"exponentialHistogram":{"aggregationTemporality":2,"dataPoints":[{"timeUnixNano":"%d000000000","count":"9",
		"sum":12.5,"scale":1,"zeroCount":"2","positive":{"offset":1,"bucketCounts":["3","0","4"]}}]}}]}]}]}`, from),
		http.StatusOK, nil)
}

// sortedMetrics sorts the lines of an export, contents with the metric before them: the parts of a native histogram
// have one name, and come in any order.
func sortedMetrics(export string) string {
	lines := strings.Split(strings.ReplaceAll(export, "\n"+`{"content":`, `{"content":`), "\n")
	slices.Sort(lines)
	return strings.ReplaceAll(strings.Join(lines, "\n"), `{"content":`, "\n"+`{"content":`)
}

// firstDifference shows where two texts differ.
func firstDifference(a, b string) string {
	i := 0
	for i < min(len(a), len(b)) && a[i] == b[i] {
		i++
	}
	around := func(s string) string { return s[max(0, i-300):min(len(s), i+100)] }
	return fmt.Sprintf("at byte %d\n%s\nand\n%s", i, around(a), around(b))
}
