package crash_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gnocco-db/gnocco/tests/fatal"
)

var (
	daysFlag = flag.Int("days", 0, "virtual days of TestDays; 0: it is skipped")
	dayTime  = flag.Duration("days.real", time.Minute, "how long a virtual day takes at least")
)

const (
	daysMetrics  = 100
	daysChurn    = 20 // metrics made and deleted each day
	daysInterval = 10 // seconds between measures of a metric
	daysRequest  = 600
	daysWarmUp   = 3 // days until all that is kept for long is full

	// incomingMost bounds the incoming store: logs of five memtables of 8 MiB (TestOldLogsHaveACeiling), and some for
	// tables.
	incomingMost = 48 << 20
)

// figures are what a server takes.
type figures struct {
	resident, descriptors float64
	disk                  float64 // without the reserve, and what is accepted and not processed
	incoming              float64 // of that, mostly logs that are kept to be written over
}

var resident = regexp.MustCompile(`(?m)^VmRSS:\s+(\d+) kB$`)

func (s *server) figures() (f figures) {
	s.t.Helper()
	proc := fmt.Sprintf("/proc/%d", s.process.Process.Pid)
	status, err := os.ReadFile(proc + "/status")
	open, openErr := os.ReadDir(proc + "/fd")
	if err := errors.Join(err, openErr); err != nil {
		s.t.Fatal(err)
	}
	f.resident, err = strconv.ParseFloat(string(resident.FindSubmatch(status)[1]), 64)
	if err != nil {
		s.t.Fatal(err)
	}
	f.resident *= 1 << 10
	f.descriptors = float64(len(open))
	if err := filepath.WalkDir(s.data, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() && entry.Name() != "reserve" {
			var info fs.FileInfo
			if info, err = entry.Info(); err == nil {
				if strings.HasPrefix(path, filepath.Join(s.data, "incoming")) {
					f.incoming += float64(info.Size())
				} else {
					f.disk += float64(info.Size())
				}
			}
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil // removed meanwhile
		}
		return err
	}); err != nil {
		s.t.Fatal(err)
	}
	return f
}

// growth returns by how much a straight line through the values rises from the first to the last, as a share of their
// mean.
func growth(values []float64) float64 {
	n := float64(len(values))
	var mean, xy, xx float64
	for _, v := range values {
		mean += v / n
	}
	for i, v := range values {
		x := float64(i) - (n-1)/2
		xy, xx = xy+x*v, xx+x*x
	}
	return xy / xx * (n - 1) / mean
}

// Measures of days come in within minutes: splits close, what is older than its timespan goes, checkpoints and
// compactions turn over, metrics are made and deleted. Once all that is kept is full, resident memory, descriptors and
// disk stay as they are.
func TestDays(t *testing.T) {
	if *daysFlag <= daysWarmUp+2 {
		t.Skip("-days: make long runs it")
	}
	s := newServer(t)
	// a sixth is longer than upkeep, which compacts stores that rest
	s.flags = []string{"--memory-limit", "256MiB", "--sacks", "4", "--checkpoint-interval", "150s"}
	s.start()
	defer func() { s.kill() }()
	s.mustDo(http.MethodPost, "/v1/archive_policy",
		[]byte(`{"name": "days", "back_window": 1, "aggregation_methods": ["mean", "max", "95pct"],
		"definition": [{"granularity": 10, "timespan": 7200}, {"granularity": 60, "timespan": 43200}, {"granularity": 3600, "timespan": 172800}]}`),
		http.StatusCreated)
	newMetric := func() string {
		var metric struct{ ID string }
		fatal.If(t, json.Unmarshal(s.mustDo(http.MethodPost, "/v1/metric", []byte(`{"archive_policy_name": "days"}`),
			http.StatusCreated), &metric))
		return metric.ID
	}
	var metrics []string
	for range daysMetrics {
		metrics = append(metrics, newMetric())
	}
	const day = 86400
	at, sent := int64(firstSecond/day*day), 0
	series := make([][]float64, 3)
	var body bytes.Buffer
	for d := range *daysFlag {
		began := time.Now()
		for end := at + day; at < end; at += daysRequest {
			body.Reset()
			for i, metric := range metrics {
				fmt.Fprintf(&body, "%c%q:[", "{,"[min(i, 1)], metric)
				for second := int64(0); second < daysRequest; second += daysInterval {
					fmt.Fprintf(&body, "%c{\"timestamp\":%d,\"value\":%d}", " ,"[min(second, 1)], at+second,
						(at+second)/daysInterval*int64(i+7)%1000)
				}
				body.WriteByte(']')
			}
			body.WriteByte('}')
			for { // refusals also bound the backlog
				status, answer, err := s.do(t.Context(), http.MethodPost, "/v1/batch/metrics/measures", body.Bytes())
				if err == nil && status == http.StatusAccepted {
					break
				}
				if err != nil || status != http.StatusServiceUnavailable {
					t.Fatalf("%d %s %v\n%s", status, answer, err, s.log)
				}
				time.Sleep(time.Second)
			}
			sent += daysMetrics * daysRequest / daysInterval
		}
		counts := s.aggregates(metrics[0], "max", 3600)
		if n := len(counts); n < min(24*(d+1), 48) {
			t.Fatalf("day %d: %d groups of an hour", d, n)
		}
		for range daysChurn {
			s.mustDo(http.MethodDelete, "/v1/metric/"+metrics[0], nil, http.StatusNoContent)
			metrics = append(slices.Delete(metrics, 0, 1), newMetric())
		}
		time.Sleep(*dayTime - time.Since(began))
		f := s.figures()
		t.Logf("day %d: %d measures sent, %.0f s, resident %.1f MB, %.0f descriptors, disk %.1f MB, and %.1f incoming",
			d+1, sent, time.Since(began).Seconds(), f.resident/1e6, f.descriptors, f.disk/1e6, f.incoming/1e6)
		if f.incoming > incomingMost {
			t.Errorf("day %d: the incoming store takes %.0f MB", d+1, f.incoming/1e6)
		}
		if d >= daysWarmUp {
			for i, v := range []float64{f.resident, f.descriptors, f.disk} {
				series[i] = append(series[i], v)
			}
		}
	}
	for i, what := range []string{"resident memory", "descriptors", "disk"} {
		g := growth(series[i])
		t.Logf("%s: %+.0f %% from day %d to day %d", what, 100*g, daysWarmUp+1, *daysFlag)
		if g > 0.5 {
			t.Errorf("%s grows: %v", what, series[i])
		}
	}
}
