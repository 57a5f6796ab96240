package main_test

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"math"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gnocco-db/gnocco/tests/fatal"
)

const sizedPolicy = `{"name": "sized", "back_window": 2, "definition": [
	{"granularity": "10 s", "timespan": "10 h"}, {"granularity": "60 s", "points": 3600}]}`

// sizes returns values of gnocco size by item.
func sizes(t *testing.T, args ...string) map[string]float64 {
	t.Helper()
	stdout, stderr, status := run(t, "", append([]string{"size", "-o", "json"}, args...)...)
	var rows []struct {
		Item  string
		Value float64
	}
	err := json.Unmarshal([]byte(stdout), &rows)
	if err != nil || status != 0 || !strings.Contains(stderr, "Unknown: queries") {
		t.Fatalf("size %q: %v, status %d: %s%s", args, err, status, stdout, stderr)
	}
	byItem := make(map[string]float64)
	for _, row := range rows {
		byItem[row.Item] = row.Value
	}
	return byItem
}

// A server whose timespans are full has as many bytes on disk as were estimated.
func TestSizeOfAServer(t *testing.T) {
	t.Parallel()
	const metrics, step, start = 40, 10, 216_000 * 8_000 // a split of each granularity begins at the start
	folder := t.TempDir()
	file := filepath.Join(folder, "policy.json")
	fatal.If(t, os.WriteFile(file, []byte(sizedPolicy), 0o600))
	rng := rand.New(rand.NewPCG(3, 4))
	var ids [metrics]string
	var values [metrics]float64
	// At the end half a split lies beyond each timespan, as on average. Each stop is a checkpoint: archives never get
	// groups that are too old by then.
	from := 0
	for _, hours := range []int{100, 132, 145} {
		s := serve(t, "--data", filepath.Join(folder, "data"), "--sacks", "1")
		if from == 0 {
			s.call(http.MethodPost, "/v1/archive_policy", sizedPolicy, http.StatusCreated, nil)
		}
		for k := range metrics {
			if from == 0 {
				var metric struct{ ID string }
				s.call(http.MethodPost, "/v1/metric", `{"archive_policy_name":"sized"}`, http.StatusCreated, &metric)
				ids[k], values[k] = metric.ID, 20
			}
			var body strings.Builder
			for i := from; i < hours*3600/step; i++ {
				values[k] = min(100, max(0, values[k]+rng.NormFloat64()))
				fmt.Fprintf(&body, `,{"timestamp":%d,"value":%.2f}`, start+i*step, values[k])
			}
			path := "/v1/metric/" + ids[k] + "/measures"
			s.call(http.MethodPost, path, "["+body.String()[1:]+"]", http.StatusAccepted, nil)
			s.call(http.MethodGet, path+"?refresh=true&limit=1", "", http.StatusOK, nil)
		}
		s.end(syscall.SIGTERM)
		from = hours * 3600 / step
	}
	estimate := sizes(t, "--metrics", fmt.Sprint(metrics), "--interval", "10s", "--policy", file)
	var bytes int64
	err := filepath.WalkDir(filepath.Join(folder, "data", "sacks"), func(_ string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		info, err := entry.Info()
		bytes += info.Size()
		return err
	})
	fatal.If(t, err)
	got := 0.
	for item, value := range estimate {
		if strings.Contains(item, " for ") || item == "disk, raw measures" {
			got += value
		}
	}
	if want := float64(bytes) / 1e6; math.Abs(got-want) > 0.3*want {
		t.Errorf("estimated %v MB, on disk %v: %v", got, want, estimate)
	}
	t.Logf("estimated %v MB, on disk %v", got, float64(bytes)/1e6)
}

// Metrics of a server tell the bytes of their aggregates: constants take less than gauges.
func TestSizeAsksAServer(t *testing.T) {
	s := serve(t, "--data", filepath.Join(t.TempDir(), "data"))
	var metric struct{ ID string }
	s.call(http.MethodPost, "/v1/archive_policy", sizedPolicy, http.StatusCreated, nil)
	ask := []string{"--metrics", "1000000", "--policy", "sized", "--url", s.url}
	const item = "disk, 0:00:10 for 10:00:00"
	guessed := sizes(t, ask...)[item]
	s.call(http.MethodPost, "/v1/metric", `{"archive_policy_name":"sized"}`, http.StatusCreated, &metric)
	var body strings.Builder
	for i := range int64(3000) {
		fmt.Fprintf(&body, `,{"timestamp":%d,"value":7}`, time.Now().Unix()-10*i)
	}
	s.call(http.MethodPost, "/v1/metric/"+metric.ID+"/measures", "["+body.String()[1:]+"]", http.StatusAccepted, nil)
	s.call(http.MethodGet, "/v1/metric/"+metric.ID+"/measures?refresh=true&limit=1", "", http.StatusOK, nil)
	if asked := sizes(t, ask...)[item]; asked > guessed/5 {
		t.Errorf("%v MB, estimated %v without metrics", asked, guessed)
	}
}

func TestSizeRefuses(t *testing.T) {
	good := []string{"--metrics", "1", "--policy", "low"}
	for want, args := range map[string][]string{
		`--policy: "mediun" is neither a file nor one of bool, high`: {"--metrics", "1", "--policy", "mediun"},
		`--interval: "0" is no time between two measures`:            append(good[:4:4], "--interval", "0"),
		`--metrics: 0 is less than 1`:                                append(good[:4:4], "--metrics", "0"),
		`--values: "x" is none of constant, counter, gauge, random`:  append(good[:4:4], "--values", "x"),
	} {
		_, stderr, status := run(t, "", append([]string{"size"}, args...)...)
		if status == 0 || !strings.Contains(stderr, want) {
			t.Errorf("%q: status %d, %s, want %s", args, status, stderr, want)
		}
	}
}
