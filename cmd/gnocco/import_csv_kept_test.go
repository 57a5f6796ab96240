package main_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// importer sends CSV text to a server by the program.
type importer struct {
	*served
	t *testing.T
}

func newImporter(t *testing.T, policies ...string) *importer {
	t.Helper()
	s := serve(t, "--data", filepath.Join(t.TempDir(), "data"), "--sacks", "3")
	for _, policy := range policies {
		s.call(http.MethodPost, "/v1/archive_policy", policy, http.StatusCreated, nil)
	}
	return &importer{s, t}
}

// csv imports text, which must end with this status and say all of these.
func (i *importer) csv(text string, args []string, status int, says ...string) {
	i.t.Helper()
	_, stderr, got := run(i.t, text, append([]string{"import", "csv", "--url", i.url, "-"}, args...)...)
	if got != status {
		i.t.Errorf("import %q: status %d, want %d:\n%s", args, got, status, stderr)
	}
	for _, want := range says {
		if !strings.Contains(stderr, want) {
			i.t.Errorf("import %q does not say %q:\n%s", args, want, stderr)
		}
	}
}

// kept returns the aggregates of a metric of resource csv.
func (i *importer) kept(metric, aggregation string) string {
	i.t.Helper()
	return i.measures("/v1/resource/generic/csv/metric/" + metric + "/measures?refresh=true&aggregation=" + aggregation)
}

// minutes returns n lines of "time,value", a minute apart from 2026-01-01 on.
func minutes(n int) []string {
	var lines []string
	for i := range n {
		lines = append(lines, fmt.Sprintf("2026-01-%02dT%02d:%02d:00Z,%d", 1+i/1440, i/60%24, i%60, i%97))
	}
	return lines
}

// A file's lines, in any order, give the archive of sorted ones.
func TestImportCSVInAnyOrder(t *testing.T) {
	t.Parallel()
	s := newImporter(t, `{"name": "minutes", "back_window": 0, "aggregation_methods": ["sum", "last", "rate:mean"],
		"definition": [{"granularity": 60, "points": 100000}, {"granularity": 3600, "points": 100000}]}`)
	lines := minutes(25_000)
	load := func(metric string, lines []string) {
		t.Helper()
		s.csv("time,value\n"+strings.Join(lines, "\n")+"\n", []string{"--archive-policy", "minutes", "--metric", metric}, 0,
			"sent 25000 measures", "rejected 0, dropped by the server 0")
	}
	load("sorted", lines)
	slices.Reverse(lines)
	load("reversed", lines)
	rand.New(rand.NewPCG(1, 2)).Shuffle(len(lines), func(i, j int) { lines[i], lines[j] = lines[j], lines[i] })
	load("shuffled", lines)
	for _, aggregation := range []string{"sum", "last", "rate:mean"} {
		want := s.kept("sorted", aggregation)
		for _, metric := range []string{"reversed", "shuffled"} {
			if got := s.kept(metric, aggregation); got != want {
				t.Errorf("%s of %s: %d bytes differ from %d of sorted", aggregation, metric, len(got), len(want))
			}
		}
	}
}

// The import reports measures that a policy does not keep, or not at its finest granularity, and lines of equal times.
func TestImportCSVReportsWhatIsNotKept(t *testing.T) {
	t.Parallel()
	s := newImporter(t, `{"name": "short", "back_window": 0, "aggregation_methods": ["count"],
		"definition": [{"granularity": 60, "points": 10}, {"granularity": 3600, "points": 24}]}`)
	lines := minutes(2 * 1440) // the newest at 23:59
	s.csv("time,value\n"+strings.Join(lines, "\n")+"\n", []string{"--archive-policy", "short", "--metric", "m"}, 2,
		"archive policy short keeps 34 of 2880 measures of 1 metric, 1 of 85: 1430 in 24 groups of 1h0m0s, 1440 older than all",
		"rejected 0, dropped by the server 0")
	if got := strings.Count(s.kept("m", "count"), "\n") + 1; got != 10+24 {
		t.Errorf("%d groups, want 34", got)
	}
	s.csv("time,value\n2026-02-01,1\n2026-02-02,2\n2026-02-02,3\n",
		[]string{"--metric", "n", "--archive-policy", "low"}, 2, "1 measure replaced: a later line",
		"archive policy low keeps each of 2 measures of 1 metric")
	s.csv("time,value\n2026-02-01,1\n2026-02-02,2\n2026-02-02,2\n", []string{"--metric", "n"}, 0,
		"1 measure there again in a later line")
	// A metric stays in its archive policy, and a name must be that of one.
	const more = "time,value\n2026-02-03,1\n"
	s.csv(more, []string{"--metric", "n", "--archive-policy", "nope"}, 1, "Archive policy nope does not exist")
	s.csv(more, []string{"--metric", "n", "--archive-policy", "high"}, 0,
		"archive policy of 1 metric stays low")
	const years = "time,value\n2024-01-01T00:00:00Z,1\n2024-01-01T00:00:01Z,2\n2026-01-01T00:00:00Z,3\n"
	s.csv(years, []string{"--metric", "c", "--create-archive-policy"}, 0,
		"archive policy every-1s-for-1463d is to be created, and keeps each measure", "sent 3 measures of 1 metric")
	s.csv(years, []string{"--metric", "c"}, 0, "archive policy every-1s-for-1463d keeps each of 3 measures", "refused 0")
}

// An import says how many groups archives have: of any times, in policies with one item or several, named or chosen.
// Status 0 means that each measure is there by itself.
func TestImportCSVSaysWhatIsKept(t *testing.T) {
	t.Parallel()
	s := newImporter(t, `{"name": "mixed", "aggregation_methods": ["mean", "count"], "definition": [
		{"granularity": "1m", "timespan": "20m"}, {"granularity": "7m", "timespan": "70m"}, {"granularity": "1h", "timespan": "3h"}]}`,
		`{"name": "ten", "aggregation_methods": ["mean", "count"], "definition": [{"granularity": "10s", "timespan": "1h"}]}`)
	random := rand.New(rand.NewPCG(5, uint64(time.Now().UnixNano())))
	said := regexp.MustCompile(`archive policy (\S+) keeps (?:each of )?(\d+)`)
	for round := range 20 {
		step := []int{1, 10, 60, 61, 300, 420, 3600}[random.IntN(7)]
		at := 1767225600 + random.IntN(7200)
		var times []int
		text := "time,v\n"
		for range 1 + random.IntN(60) {
			text += fmt.Sprintf("%d,%d\n", at, random.IntN(1000))
			times = append(times, at)
			at += step * (1 + random.IntN(2))
		}
		metric := fmt.Sprint("r", round)
		args := []string{"import", "csv", "--url", s.url, "--metric", metric, "-"}
		if policy := []string{"mixed", "ten", "low", "high", ""}[round%5]; policy != "" {
			args = append(args, "--archive-policy", policy)
		}
		_, stderr, status := run(t, text, args...)
		if status == 2 && strings.Contains(stderr, "not even the best") {
			continue
		}
		// Each measure is kept by the finest of the groups that are there for it.
		archive := "\n" + s.kept(metric, "count") + "\n"
		groups := make(map[string]bool)
		for _, at := range times {
			for _, granularity := range []int{1, 10, 60, 300, 420, 3600} {
				group := fmt.Sprintf("\n%s %d ", time.Unix(int64(at-at%granularity), 0).UTC().Format("2006-01-02T15:04:05+00:00"), granularity)
				if strings.Contains(archive, group) {
					groups[group] = true
					break
				}
			}
		}
		found := said.FindStringSubmatch(stderr)
		if found == nil || found[2] != fmt.Sprint(len(groups)) || (status == 0) != (len(groups) == len(times)) {
			t.Fatalf("status %d; of %d measures there are %d groups:\n%s\n%s%s", status, len(times), len(groups), stderr, text, archive)
		}
	}
}

// Files whose columns are odd are imported as far as they can be.
func TestImportCSVOddColumns(t *testing.T) {
	t.Parallel()
	s := newImporter(t, secondsPolicy)
	policy := []string{"--archive-policy", "seconds"}
	s.csv(",time,v,\n0,2026-01-01,1,\n", policy, 0, "left out: 2 columns without a name",
		"sent 1 measure of 1 metric")
	s.csv(",w\n2026-01-01,1\n", policy, 0, "sent 1 measure of 1 metric")
	s.csv("time,c\r2026-01-01T00:00:00Z,1\r2026-01-01T00:00:01Z,2\r", policy, 0, "sent 2 measures of 1 metric")
	s.csv("centroid_lat,centroid_lon,car_hours\n45.47,-73.58,1772\n", policy, 2,
		"its columns are centroid_lat, centroid_lon, car_hours")
	s.csv("id,state,last_changed\nx,99,2026-01-01T00:00:00Z\n", append(policy, "--ignore", "id"), 0, "sent 1 measure")
	s.csv("time,x\n2026-01-01,1\n", append(policy, "--ignore", "y"), 1, `no column to ignore is called "y"`)
	// A metric is created with its first value.
	s.csv("time,text,y\n2026-01-01,warm,1\n", policy, 0, "left out, no numbers: text", "sent 1 measure of 1 metric")
	var metrics []struct{ Name string }
	s.call(http.MethodGet, "/v1/resource/generic/csv/metric", "", http.StatusOK, &metrics)
	var names []string
	for _, m := range metrics {
		names = append(names, m.Name)
	}
	slices.Sort(names)
	if want := []string{"c", "state", "v", "w", "y"}; !slices.Equal(names, want) {
		t.Errorf("metrics %q, want %q", names, want)
	}
}

// History that is older than the measures of a live metric ends in its archive as if it had come first.
func TestImportCSVHistory(t *testing.T) {
	t.Parallel()
	s := newImporter(t, `{"name": "live", "back_window": 0, "aggregation_methods": ["sum", "95pct", "std"],
		"definition": [{"granularity": 60, "points": 1000000}, {"granularity": 3600, "points": 1000000}]}`)
	policy := []string{"--archive-policy", "live", "--metric"}
	january := "time,value\n" + strings.Join(minutes(1000), "\n") + "\n"
	const today = "2026-06-01T12:00:00Z,5\n"
	s.csv("time,value\n"+today, append(policy, "m"), 0)
	s.csv(january, append(policy, "m"), 0, "1000 measures older than the back window went in as history",
		"sent 1000 measures of 1 metric", "dropped by the server 0, refused 0")
	s.csv(january+today, append(policy, "n"), 0)
	for _, aggregation := range []string{"sum", "95pct", "std"} {
		if got, want := s.kept("m", aggregation), s.kept("n", aggregation); got != want || len(got) < 800 {
			t.Errorf("%s: %d bytes differ from %d of a file in order", aggregation, len(got), len(want))
		}
	}
	// The same file again changes nothing.
	s.csv(january, append(policy, "m"), 0, "refused 0")
	// Where the metric has other measures, the file's are refused.
	s.csv("time,value\n2026-01-01T03:00:30Z,7\n2026-01-05,8\n", append(policy, "m"), 2, "1 measure older than",
		"1 measure refused: there it has other measures, whose raw ones are gone: 1 period of 1h0m0s, from 2026-01-01T03:00:00+00:00 on", "refused 1")
	if got, want := s.kept("m", "sum"), s.kept("n", "sum"); strings.Count(got, "\n") != strings.Count(want, "\n")+2 {
		t.Errorf("%d rows after a refused one, %d before", strings.Count(got, "\n"), strings.Count(want, "\n"))
	}
}

// An import that was killed while it sent its history is run again: every measure counts once.
func TestImportCSVAfterAKilledImport(t *testing.T) {
	s := newImporter(t, `{"name": "live", "back_window": 0, "aggregation_methods": ["sum", "count", "95pct"],
		"definition": [{"granularity": 60}, {"granularity": 3600}]}`)
	policy := []string{"--archive-policy", "live", "--metric"}
	lines := minutes(600)
	const today = "2026-06-01T12:00:00Z,5\n"
	s.csv("time,value\n"+strings.Join(lines, "\n")+"\n"+today, append(policy, "ordered"), 0)
	s.csv("time,value\n"+today, append(policy, "killed"), 0)
	s.csv("time,value\n"+strings.Join(lines[:120], "\n")+"\n", append(policy, "killed"), 0)
	s.csv("time,value\n"+strings.Join(lines, "\n")+"\n", append(policy, "killed", "--batch", "100"), 0,
		"600 measures older than the back window went in as history", "dropped by the server 0, refused 0")
	for _, aggregation := range []string{"sum", "count", "95pct"} {
		if got, want := s.kept("killed", aggregation), s.kept("ordered", aggregation); got != want || len(got) < 600 {
			t.Errorf("%s: %d bytes differ from %d in order", aggregation, len(got), len(want))
		}
	}
}

// A policy that takes no history has it refused, with the reason.
func TestImportCSVRefusedHistory(t *testing.T) {
	s := newImporter(t, `{"name": "rates", "back_window": 0, "aggregation_methods": ["rate:mean"],
		"definition": [{"granularity": 60}]}`)
	policy := []string{"--archive-policy", "rates", "--metric", "m"}
	s.csv("time,value\n2026-06-01T12:00:00Z,5\n", policy, 0)
	s.csv("time,value\n"+strings.Join(minutes(10), "\n")+"\n", policy, 2, "10 measures refused", "has rate: methods",
		"dropped by the server 0, refused 10")
}

// An import that fails leaves no empty metrics behind, and removes none that has measures.
func TestImportCSVLeavesNoEmptyMetrics(t *testing.T) {
	s := serve(t, "--data", filepath.Join(t.TempDir(), "data"), "--max-future", "1h")
	i := &importer{s, t}
	ahead := time.Now().UTC().Add(2 * time.Hour).Format(time.RFC3339)
	before := "time,a\n2026-01-01,1\n"
	i.csv(before, nil, 0, "sent 1 measure")
	i.csv("time,a,b\n"+ahead+",1,2\n", nil, 1, "Measure in the future")
	i.csv("time,c,d\n2026-01-01,1,\n"+ahead+",,2\n", []string{"--batch", "1", "--requests", "1"}, 1, "Measure in the future")
	var metrics []struct{ Name string }
	s.call(http.MethodGet, "/v1/resource/generic/csv/metric", "", http.StatusOK, &metrics)
	var names []string
	for _, m := range metrics {
		names = append(names, m.Name)
	}
	slices.Sort(names)
	if want := []string{"a", "c"}; !slices.Equal(names, want) {
		t.Errorf("metrics %q, want %q", names, want)
	}
}

// A server takes requests of a mebibyte: more metrics are created by several.
func TestImportCSVOfManyMetrics(t *testing.T) {
	t.Parallel()
	s := newImporter(t, secondsPolicy)
	text := "time,v,n\n"
	for i := range 2500 {
		text += fmt.Sprintf("2026-01-01,1,%0200d%d\n", 0, i)
	}
	s.csv(text, []string{"--archive-policy", "seconds", "--metric-column", "n", "--max-reports", "1"}, 0,
		"sent 2500 measures of 2500 metrics")
}
