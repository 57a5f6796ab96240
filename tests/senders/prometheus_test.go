package senders_test

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gnocco-db/gnocco/server"
)

// scraped is what Prometheus answers to a query of series.
type scraped struct {
	Data struct {
		Result []struct {
			Metric map[string]string
			Values [][2]any // seconds since 1970, value as text
		}
	}
}

// scrapeFor is how long Prometheus scrapes and writes.
const scrapeFor = 80 * time.Second

// Prometheus scrapes itself, the server and an exporter every second, and writes all of it to the server: each series
// has to read back equal to Prometheus' own. Then both answer the same queries at the same times, alike.
func TestPrometheusWritesRemotely(t *testing.T) {
	program := installed(t, "prometheus")
	t.Parallel()
	s, _ := start(t, nil)
	source := startPrometheus(t, program, s.URL(), map[string]string{"gnocco": s.URL(), "demo": startExporter(t)})
	time.Sleep(scrapeFor)
	if series := readsBack(t, source, `{__name__=~".+"}`, s); series < 100 {
		t.Errorf("Prometheus has %d series only", series)
	}
	t.Logf("%d answers are alike", compare(t, s.URL(), source, comparedAt(t, source, s.URL())))
}

// readsBack compares all series of a selector in Prometheus with the server's, and returns their number.
func readsBack(t *testing.T, source, selector string, s *server.Server) int {
	t.Helper()
	var series scraped
	// Queues send after five seconds at the latest: older measures have to come soon. They leave out measures stamped
	// before they began, as from a target with its own timestamps, so the first twenty seconds do not count.
	query := url.Values{"query": {fmt.Sprintf("%s[%ds]", selector, int(scrapeFor.Seconds())-20)},
		"time": {fmt.Sprint(time.Now().Unix() - 5)}}
	check(t, json.Unmarshal(get(t, source+"/api/v1/query?"+query.Encode()), &series))
	measures := 0
	var known map[string]string
	for _, one := range series.Data.Result {
		for deadline := time.Now().Add(2 * time.Minute); ; time.Sleep(200 * time.Millisecond) {
			id, ok := known[fmt.Sprint(one.Metric)]
			if !ok {
				known = metricsByLabels(t, s)
				id, ok = known[fmt.Sprint(one.Metric)]
			}
			missing := "no metric has these labels"
			if ok {
				missing = differs(one.Values,
					get(t, s.URL()+"/v1/metric/"+id+"/measures?aggregation=last&refresh=true"))
			}
			if missing == "" {
				break
			}
			if time.Now().After(deadline) {
				t.Fatalf("%v: %s", one.Metric, missing)
			}
		}
		measures += len(one.Values)
	}
	t.Logf("%d measures of %d series are equal", measures, len(series.Data.Result))
	return len(series.Data.Result)
}

// startPrometheus returns the URL of one that scrapes itself and others, by name of the job, and writes to target.
func startPrometheus(t *testing.T, program, target string, jobs map[string]string) string {
	t.Helper()
	address := freeAddress(t)
	var config strings.Builder
	fmt.Fprintf(&config, `global: {scrape_interval: 1s}
remote_write:
- {url: %q, basic_auth: {username: admin, password: unused}}
scrape_configs:
- {job_name: prometheus, static_configs: [{targets: [%q]}]}
`, target+"/api/v1/write", address)
	for name, job := range jobs {
		fmt.Fprintf(&config, "- {job_name: %q, honor_labels: true, static_configs: [{targets: [%q]}]}\n", name,
			strings.TrimPrefix(job, "http://"))
	}
	launch(t, program, "--config.file="+write(t, "prometheus.yml", "%s", config.String()),
		"--storage.tsdb.path="+filepath.Join(t.TempDir(), "tsdb"), "--web.listen-address="+address)
	return "http://" + address
}

// metricsByLabels returns the IDs of all metrics that were pushed with labels.
func metricsByLabels(t *testing.T, s *server.Server) map[string]string {
	t.Helper()
	all := map[string]string{}
	for marker := ""; ; {
		var page []struct {
			ID     string
			Labels map[string]string
		}
		check(t, json.Unmarshal(get(t, s.URL()+"/v1/metric?limit=1000"+marker), &page))
		for _, m := range page {
			all[fmt.Sprint(m.Labels)] = m.ID
			marker = "&marker=" + m.ID
		}
		if len(page) == 0 {
			return all
		}
	}
}

// differs tells which of a series' values the measures in body lack; "" if none.
func differs(values [][2]any, body []byte) string {
	var rows [][3]any
	text := strings.NewReplacer("-Infinity", `"-Inf"`, "Infinity", `"+Inf"`, "NaN", `"NaN"`).Replace(string(body))
	if err := json.Unmarshal([]byte(text), &rows); err != nil {
		return fmt.Sprintf("%s: %s", err, body)
	}
	got := map[string]float64{}
	for _, row := range rows {
		value, err := strconv.ParseFloat(fmt.Sprint(row[2]), 64)
		if err != nil {
			return err.Error()
		}
		got[row[0].(string)] = value
	}
	// The last one of each second counts, but for the very last second, which may have got more since.
	for i, value := range values {
		at := int64(value[0].(float64))
		if i+1 == len(values) || int64(values[i+1][0].(float64)) == at {
			continue
		}
		second := time.Unix(at, 0).UTC().Format("2006-01-02T15:04:05+00:00")
		want, err := strconv.ParseFloat(value[1].(string), 64)
		if err != nil {
			return err.Error()
		}
		if have, ok := got[second]; !ok || have != want && !(math.IsNaN(have) && math.IsNaN(want)) {
			return fmt.Sprintf("at %s: %v, want %v (%d of %d values)", second, have, want, len(got), len(values))
		}
	}
	return ""
}

// get returns the body of an answer; a resource that is not there yet has an empty list.
func get(t *testing.T, address string) []byte {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	check(t, err)
	r.SetBasicAuth("admin", "")
	answer, err := http.DefaultClient.Do(r)
	check(t, err)
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	check(t, err)
	if answer.StatusCode == http.StatusNotFound {
		return []byte("[]")
	}
	if answer.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s: %s", address, answer.Status, body)
	}
	return body
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
