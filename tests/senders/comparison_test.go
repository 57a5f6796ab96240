package senders_test

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/common/model"
)

// startExporter returns the URL of one that shows what comparedQueries ask for.
func startExporter(t *testing.T) string {
	t.Helper()
	var scrapes atomic.Int64
	exporter := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; version=0.0.4")
		_, _ = io.WriteString(w, exposition(int(scrapes.Add(1))))
	}))
	t.Cleanup(exporter.Close)
	return exporter.URL
}

// comparedAt is a time for which both have everything, half a second away from scrapes: Prometheus 2 and 3 do not agree
// about samples at the begin of a range.
func comparedAt(t *testing.T, prometheus, ours string) float64 {
	t.Helper()
	at := float64(time.Now().Unix() - 10)
	answer, err := ask(t, prometheus, "query", url.Values{"query": {`timestamp(up{job="demo"})`},
		"time": {fmt.Sprint(at)}})
	check(t, err)
	if len(answer) != 1 {
		t.Fatalf("Prometheus scraped %v", answer)
	}
	at = answer[0].values[0] + 0.5
	newest := url.Values{"query": {`last_over_time({job="demo"}[5s])`}, "time": {fmt.Sprintf("%.3f", at)}}
	want, err := ask(t, prometheus, "query", newest)
	check(t, err)
	eventually(t, func() string {
		got, err := ask(t, ours, "query", newest)
		check(t, err)
		return difference(got, want, false)
	})
	return at
}

// innerRange is the range of a function that a subquery asks at whole seconds. Where scrapes are at whole seconds as
// well, one lies on the range's edge, which Prometheus 2 has in it, and 3 has not.
var innerRange = regexp.MustCompile(`\[(\d+s)\]`)

// compare asks both all queries, at an instant and for a range, and returns how many answers are alike.
func compare(t *testing.T, ours, theirs string, at float64) (passed int) {
	t.Helper()
	queries := comparedQueries()
	for _, family := range slices.Sorted(maps.Keys(queries)) {
		alike, asked := 0, 0
		for _, query := range queries[family] {
			query = strings.ReplaceAll(query, "AT", fmt.Sprintf("%.3f", at-5))
			if family == "subqueries" && at-0.5 == math.Trunc(at-0.5) {
				query = innerRange.ReplaceAllString(query, "[${1}300ms]")
			}
			instant := url.Values{"query": {query}, "time": {fmt.Sprintf("%.3f", at)}}
			ranged := url.Values{"query": {query}, "start": {fmt.Sprintf("%.3f", at-12)},
				"end": {fmt.Sprintf("%.3f", at)}, "step": {"3"}}
			for path, form := range map[string]url.Values{"query": instant, "query_range": ranged} {
				asked++
				want, wantErr := ask(t, theirs, path, form)
				got, err := ask(t, ours, path, form)
				text := ""
				if (err == nil) != (wantErr == nil) {
					text = fmt.Sprintf("%v, want %v", err, wantErr)
				} else if err == nil {
					text = difference(got, want, path == "query" && strings.HasPrefix(query, "sort"))
				}
				if text == "" {
					alike++
				} else {
					t.Errorf("%s %s: %s", path, query, text)
				}
			}
		}
		t.Logf("%s: %d of %d", family, alike, asked)
		passed += alike
	}
	return passed
}

// answered is a series of an answer: its labels, times and values.
type answered struct {
	labels string
	times  []float64
	values []float64
}

// ask returns an answer's series, or the error that it is.
func ask(t *testing.T, server, path string, form url.Values) ([]answered, error) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server+"/api/v1/"+path,
		strings.NewReader(form.Encode()))
	check(t, err)
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.SetBasicAuth("admin", "")
	response, err := http.DefaultClient.Do(r)
	check(t, err)
	defer response.Body.Close()
	var answer struct {
		Status, Error string
		Data          struct {
			ResultType string
			Result     json.RawMessage
		}
	}
	check(t, json.NewDecoder(response.Body).Decode(&answer))
	if answer.Status != "success" {
		return nil, fmt.Errorf("%s: %s", response.Status, answer.Error)
	}
	type row struct {
		Metric model.Metric
		Value  [2]any
		Values [][2]any
	}
	var rows []row
	if answer.Data.ResultType == "scalar" {
		rows = make([]row, 1)
		check(t, json.Unmarshal(answer.Data.Result, &rows[0].Value))
	} else {
		check(t, json.Unmarshal(answer.Data.Result, &rows))
	}
	var all []answered
	for _, row := range rows {
		if row.Values == nil {
			row.Values = [][2]any{row.Value}
		}
		series := answered{labels: row.Metric.String()}
		for _, v := range row.Values {
			value, err := strconv.ParseFloat(v[1].(string), 64)
			check(t, err)
			series.times, series.values = append(series.times, v[0].(float64)), append(series.values, value)
		}
		all = append(all, series)
	}
	return all, nil
}

// difference says in what two answers differ; "" if in nothing. The order of series counts only where it is asked for.
func difference(got, want []answered, ordered bool) string {
	if !ordered {
		for _, all := range [][]answered{got, want} {
			sort.SliceStable(all, func(i, j int) bool { return all[i].labels < all[j].labels })
		}
	}
	if len(got) != len(want) {
		return fmt.Sprintf("%d series, want %d: %.300v, want %.300v", len(got), len(want), got, want)
	}
	for i, w := range want {
		g := got[i]
		if ordered && w.labels != g.labels && alike(g.values[0], w.values[0]) { // of equal values any may be first
			continue
		}
		if g.labels != w.labels || !slices.Equal(g.times, w.times) || !slices.EqualFunc(g.values, w.values, alike) {
			return fmt.Sprintf("%v, want %v", g, w)
		}
	}
	return ""
}

// alike reports whether two values differ by rounding at most.
func alike(a, b float64) bool {
	return a == b || math.IsNaN(a) && math.IsNaN(b) || math.Abs(a-b) <= 1e-12*max(math.Abs(a), math.Abs(b))
}
