package senders_test

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"maps"
	"math"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/s2"
	"google.golang.org/protobuf/encoding/protowire"
)

var score = flag.Bool("score", false,
	"print the tables of docs/explain/testing.md: which answers from groups of 10 s are those from measures")

// Answers from groups of 10 s, by the archive policy of pushed series, beside those from the measures themselves, which
// are Prometheus' own (TestPrometheusWritesRemotely). Data and times are fixed. Each difference has a reason: the
// answer is that of a series with one sample a group, its last measure, at the group's end; or a function over time, or
// of counters, has taken all measures of groups.
func TestScoreOfGroups(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: make test SHORT= runs it")
	}
	t.Parallel()
	base := time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC)
	servers := make([]string, 2) // with all measures, and with the last one of each group, at its end
	for i := range servers {
		s, c := start(t, nil)
		// the server makes its own
		check(t, c.Do(t.Context(), http.MethodDelete, "/v1/archive_policy/prometheus", nil, nil))
		servers[i] = s.URL()
	}
	const group = 10 // s
	for n := range 160 {
		push(t, servers[0], n, base.Add(time.Duration(n)*time.Second+250*time.Millisecond))
		if n%group == group-1 {
			push(t, servers[1], n, base.Add(time.Duration(n+1)*time.Second))
		}
	}
	for _, server := range servers {
		eventually(t, func() string {
			answer, err := ask(t, server, "query", url.Values{"query": {"count(last_over_time(up[5s]))"},
				"time": {fmt.Sprint(base.Unix() + 160)}})
			if err != nil || len(answer) != 1 {
				return fmt.Sprint("no answer yet: ", answer, err)
			}
			return ""
		})
	}
	// Seconds since a group ended. At the first, no measure of the next group has come.
	wanted := map[float64]map[string]int{
		0.1: {"equal": 593, "one sample a group: the last one that has ended": 252,
			"one sample a group: in a range": 101, "one sample a group: too few in the range": 12,
			"one sample a group: its time":                          2,
			"one sample a group: of the group that holds the range": 5,
			"all measures of groups":                                83, "counters: all measures of groups": 92},
		0.5: {"equal": 356, "one sample a group: the last one that has ended": 475,
			"one sample a group: in a range": 111, "one sample a group: too few in the range": 12,
			"one sample a group: its time":                          2,
			"one sample a group: of the group that holds the range": 5,
			"all measures of groups":                                87, "counters: all measures of groups": 92},
	}
	requireAligned(t, servers[0], float64(base.Unix()+140))
	phases := []float64{0.1, 0.5}
	if *score {
		phases = append(phases, 1.5, 2.5, 3.5, 4.5, 5.5, 6.5, 7.5, 8.5, 9.5)
	}
	for _, phase := range phases {
		counts := scoreAt(t, servers, float64(base.Unix()+140)+phase)
		t.Logf("%.1f s after a group's end: %v", phase, counts)
		if want := wanted[phase]; want != nil && !maps.Equal(counts, want) || counts["unexplained"] > 0 {
			t.Errorf("%.1f s after a group's end: %v, want %v", phase, counts, want)
		}
	}
}

// overColumns finds functions over time that are answered from all measures of groups.
var overColumns = regexp.MustCompile(`(avg|min|max|sum|count|stddev|stdvar|quantile)_over_time\([^()]*\[[^]:]*\]`)

// overCounters finds functions of counters, which groups with the methods increase and resets answer.
var overCounters = regexp.MustCompile(`\b(rate|increase|delta|resets|irate|idelta)\(`)

// heldByGroup finds functions of single values over less than a group.
var heldByGroup = regexp.MustCompile(`(last_over_time|changes)\([^()]*\[5s\]`)

// overRange finds the function of a range in a query.
var overRange = regexp.MustCompile(`\b(\w+)\([^()]*\[`)

// span finds ranges and offsets.
var span = regexp.MustCompile(`\b\d+(ms|s|m|h)\b`)

// unequal are the functions whose answers from groups differ, at multiples of the groups' width, with the reason.
var unequal = map[string]string{
	"changes": "one value a group", "irate": "the last two measures", "idelta": "the last two measures",
	"deriv": "one value a group", "predict_linear": "one value a group",
	"quantile_over_time": "without a sketch, neither of a granularity nor an extreme",
	"resets":             "of gauges, whose policy does not count resets",
	"max_over_time":      "NaN beside numbers: Gnocchi's rule",
	"timestamp":          "the group's end",
}

// requireAligned asks what is asked at instants without subqueries, with ranges and offsets that are multiples of a
// group's width. From groups all functions but those of unequal give the answers from measures.
func requireAligned(t *testing.T, server string, at float64) {
	t.Helper()
	functions := map[string]*[2]int{} // how many are equal, and all
	for _, queries := range comparedQueries() {
		for _, query := range queries {
			query = strings.NewReplacer("[5s]", "[20s]", "[27s]", "[30s]", "AT", fmt.Sprintf("%.3f", at-10)).Replace(query)
			finer := func(text string) bool {
				d, err := time.ParseDuration(text)
				check(t, err)
				return d%(10*time.Second) != 0
			}
			if strings.Contains(query, "s:") || slices.ContainsFunc(span.FindAllString(query, -1), finer) {
				continue
			}
			form := url.Values{"query": {query}, "time": {fmt.Sprintf("%.3f", at)}}
			want, wantErr := ask(t, server, "query", form)
			form.Set("max_source_resolution", "10s")
			got, err := ask(t, server, "query", form)
			function := "no range"
			if m := overRange.FindStringSubmatch(query); m != nil {
				function = m[1]
			} else if strings.HasPrefix(query, "timestamp(") {
				function = "timestamp"
			}
			if functions[function] == nil {
				functions[function] = new([2]int)
			}
			functions[function][1]++
			if (err == nil) == (wantErr == nil) && difference(got, want, strings.HasPrefix(query, "sort")) == "" {
				functions[function][0]++
			} else if unequal[function] == "" {
				t.Errorf("%s: %.600v %v, by measures %.600v %v", query, got, err, want, wantErr)
			}
		}
	}
	for _, f := range slices.Sorted(maps.Keys(functions)) {
		if equal, all := functions[f][0], functions[f][1]; *score || (equal == all) != (unequal[f] == "") {
			t.Logf("| %s | %d of %d | %s |", f, equal, all, unequal[f])
		}
	}
	for f := range unequal {
		if c := functions[f]; c == nil || c[0] == c[1] {
			t.Errorf("all answers of %s are equal: %v", f, c)
		}
	}
}

// scoreAt counts answers at a time by their agreement with those from measures, or by the reason why they differ.
func scoreAt(t *testing.T, servers []string, at float64) map[string]int {
	t.Helper()
	counts := map[string]int{}
	for _, queries := range comparedQueries() {
		for _, query := range queries {
			query = strings.ReplaceAll(query, "AT", fmt.Sprintf("%.3f", at-5))
			instant := url.Values{"query": {query}, "time": {fmt.Sprintf("%.3f", at)}}
			ranged := url.Values{"query": {query}, "start": {fmt.Sprintf("%.3f", at-12)},
				"end": {fmt.Sprintf("%.3f", at)}, "step": {"3"}}
			for path, form := range map[string]url.Values{"query": instant, "query_range": ranged} {
				ordered := path == "query" && strings.HasPrefix(query, "sort")
				want, wantErr := ask(t, servers[0], path, form)
				fromGroups := maps.Clone(form)
				fromGroups.Set("max_source_resolution", "10s")
				got, err := ask(t, servers[0], path, fromGroups)
				one, oneErr := ask(t, servers[1], path, form)
				alike := func(other []answered, otherErr error) bool {
					return (err == nil) == (otherErr == nil) &&
						(err != nil || difference(slices.Clone(got), slices.Clone(other), ordered) == "")
				}
				reason := "unexplained"
				switch {
				case alike(want, wantErr):
					reason = "equal"
				case alike(one, oneErr) && len(got) == 0:
					reason = "one sample a group: too few in the range"
				case alike(one, oneErr) && strings.Contains(query, "timestamp("):
					reason = "one sample a group: its time"
				case alike(one, oneErr) && strings.Contains(query, "["):
					reason = "one sample a group: in a range"
				case alike(one, oneErr):
					reason = "one sample a group: the last one that has ended"
				case heldByGroup.MatchString(query):
					reason = "one sample a group: of the group that holds the range"
				case overColumns.MatchString(query):
					reason = "all measures of groups"
				case overCounters.MatchString(query):
					reason = "counters: all measures of groups"
				}
				if counts[reason]++; reason == "unexplained" {
					t.Logf("%s %s: %.600v, by measures %.600v, by one sample a group %.600v %v %v %v", path, query, got,
						want, one, err, wantErr, oneErr)
				}
			}
		}
	}
	return counts
}

// expositionRow is a line of an exposition.
var expositionRow = regexp.MustCompile(`^(\w+)\{(.*)\} (\S+)$`)

// push writes what the exporter shows at its n-th scrape, and what Prometheus adds, as of a time.
func push(t *testing.T, server string, n int, at time.Time) {
	t.Helper()
	var message []byte
	nested := func(dst []byte, number protowire.Number, content []byte) []byte {
		return protowire.AppendBytes(protowire.AppendTag(dst, number, protowire.BytesType), content)
	}
	text := exposition(n+1) + "up{} 1\nscrape_samples_scraped{} 68\n"
	for line := range strings.Lines(text) {
		parts := expositionRow.FindStringSubmatch(strings.TrimSuffix(line, "\n"))
		if parts == nil {
			continue
		}
		labels := map[string]string{"__name__": parts[1], "instance": "demo:1", "job": "demo"}
		for _, label := range regexp.MustCompile(`(\w+)=("[^"]*")`).FindAllStringSubmatch(parts[2], -1) {
			value, err := strconv.Unquote(label[2])
			check(t, err)
			labels[label[1]] = value
		}
		value, err := strconv.ParseFloat(parts[3], 64)
		check(t, err)
		var one []byte
		for _, name := range slices.Sorted(maps.Keys(labels)) {
			one = nested(one, 1, nested(nested(nil, 1, []byte(name)), 2, []byte(labels[name])))
		}
		measure := protowire.AppendFixed64(protowire.AppendTag(nil, 1, protowire.Fixed64Type), math.Float64bits(value))
		measure = protowire.AppendVarint(protowire.AppendTag(measure, 2, protowire.VarintType), uint64(at.UnixMilli()))
		message = nested(message, 1, nested(one, 2, measure))
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server+"/api/v1/write",
		bytes.NewReader(s2.EncodeSnappy(nil, message)))
	check(t, err)
	r.Header.Set("Content-Type", "application/x-protobuf")
	r.Header.Set("Content-Encoding", "snappy")
	r.SetBasicAuth("admin", "")
	response, err := http.DefaultClient.Do(r)
	check(t, err)
	defer response.Body.Close()
	if body, _ := io.ReadAll(response.Body); response.StatusCode != http.StatusNoContent {
		t.Fatalf("%s: %s", response.Status, body)
	}
}
