package main_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

var deviceBatches = regexp.MustCompile(`gnocco_resampler_batches_total\{engine="device"\} (\d+)`)

// deviceBatches returns how many batches a process had done by a device.
func (s *served) deviceBatches() int {
	s.t.Helper()
	response, err := http.Get(s.url + "/metrics")
	if err != nil {
		s.t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	m := deviceBatches.FindSubmatch(text)
	if m == nil {
		return 0
	}
	n, _ := strconv.Atoi(string(m[1]))
	return n
}

// Requests are answered alike with a device and without, by a process that has no other use for one.
func TestRequestsOnADevice(t *testing.T) {
	fakeDevice(t)
	data := filepath.Join(t.TempDir(), "data")
	api := serveAs(t, "api", "--data", data, "--gpu", "on")
	workers := serveAs(t, "metricd", "--data", data, "--gpu", "off")
	api.call(http.MethodPost, "/v1/archive_policy",
		`{"name": "minutes", "aggregation_methods": ["mean", "95pct"], "definition": [{"granularity": 60, "points": 1000}]}`, http.StatusCreated, nil)
	var metrics []string
	for m := range 9 {
		var metric struct{ ID string }
		api.call(http.MethodPost, "/v1/metric", `{"archive_policy_name": "minutes"}`, http.StatusCreated, &metric)
		metrics = append(metrics, metric.ID)
		var measures []string
		for i := range 300 {
			if i%(m+5) != 0 { // not all have all timestamps
				measures = append(measures, fmt.Sprintf(`{"timestamp": %d, "value": %d.25}`,
					1_700_000_000+60*i, i*(m+7919)%97))
			}
		}
		api.call(http.MethodPost, "/v1/metric/"+metric.ID+"/measures", "["+strings.Join(measures, ",")+"]",
			http.StatusAccepted, nil)
	}
	for _, id := range metrics { // they lie in several sacks
		api.measures("/v1/metric/" + id + "/measures?refresh=true")
	}
	var references strings.Builder
	for _, id := range metrics {
		fmt.Fprintf(&references, " (%s mean)", id)
	}
	ask := func(s *served) (answers []string) {
		t.Helper()
		for _, operation := range []string{"(aggregate median (metric%s))", "(resample 7pct 3600 (metric%s))",
			"(aggregate std (resample median 1800 (metric%s)))"} {
			body, _ := json.Marshal(map[string]string{"operations": fmt.Sprintf(operation, references.String())})
			var answer json.RawMessage
			s.call(http.MethodPost, "/v1/aggregates", string(body), http.StatusOK, &answer)
			answers = append(answers, string(answer))
		}
		for _, query := range []string{"aggregation=mean&resample=3600",
			"aggregation=95pct&resample=Y&tz=Europe/Berlin", "aggregation=mean&resample=7777"} {
			answers = append(answers, s.measures("/v1/metric/"+metrics[0]+"/measures?granularity=60&"+query))
		}
		return answers
	}
	before := api.deviceBatches()
	onDevice := ask(api)
	if n := api.deviceBatches() - before; n != 6 {
		t.Errorf("%d of 6 batches were a device's, log:\n%s", n, api.logged())
	}
	if status := api.end(syscall.SIGTERM); status != 0 {
		t.Errorf("api: status %d, log:\n%s", status, api.logged())
	}
	api = serveAs(t, "api", "--data", data, "--gpu", "off")
	for i, want := range ask(api) {
		if onDevice[i] != want || len(want) < 30 {
			t.Errorf("on a device:\n%s\nwithout:\n%s", onDevice[i], want)
		}
	}
	if n := api.deviceBatches(); n != 0 {
		t.Errorf("%d batches on a device that is not to be used", n)
	}
	api.end(syscall.SIGTERM)
	workers.end(syscall.SIGTERM)
	if _, stderr, status := run(t, "", "api", "--data", data, "--gpu", "on", "--cuda-driver",
		"no-such-library.so"); status != 1 || !strings.Contains(stderr, "no CUDA device available") {
		t.Errorf("without a device: status %d: %s", status, stderr)
	}
}
