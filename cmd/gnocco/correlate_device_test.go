package main_test

import (
	"fmt"
	"math"
	"net/http"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// servedCorrelation is what the API answers.
type servedCorrelation struct {
	ID       string
	State    string
	Groups   int
	Constant []string
	Total    int
	Pairs    []struct {
		X, Y    string
		R       float64
		Lag     int
		Overlap int64
	}
}

// The API answers the same pairs with a device, within the bound, and counts what the device did.
func TestServeCorrelatesOnADevice(t *testing.T) {
	fakeDevice(t)
	data := filepath.Join(t.TempDir(), "data")
	s := serve(t, "--data", data, "--gpu", "on")
	s.call(http.MethodPost, "/v1/archive_policy", secondsPolicy, http.StatusCreated, nil)
	var ids []string
	for j, value := range []func(i int) int{
		func(i int) int { return 1_000_000 + i%37 }, func(i int) int { return i * i % 17 }, func(i int) int {
			return 3*(i%37) + i%5
		},
		func(int) int { return 7 }, func(i int) int { return (i + 36) % 37 },
	} {
		var metric struct{ ID string }
		s.call(http.MethodPost, "/v1/metric", `{"archive_policy_name": "seconds"}`, http.StatusCreated, &metric)
		ids = append(ids, metric.ID)
		var measures []string
		for i := range 300 {
			if j != 2 || i%11 > 0 { // which has gaps
				measures = append(measures, fmt.Sprintf(`{"timestamp": %d, "value": %d}`, 1767225600+i, value(i)))
			}
		}
		path := "/v1/metric/" + metric.ID + "/measures"
		s.call(http.MethodPost, path, "["+strings.Join(measures, ", ")+"]", http.StatusAccepted, nil)
		s.measures(path + "?aggregation=sum&refresh=true&limit=1")
	}
	bodies := []string{`"needed_overlap": 0`, `"lag": 2`, `"top": 3`, `"top_per_metric": 1`,
		`"threshold": 0.5, "lag": 1`}
	ask := func(s *served, body string) (answer servedCorrelation) {
		t.Helper()
		status := s.callAny(http.MethodPost, "/v1/correlations",
			`{"aggregation": "sum", "metrics": ["`+strings.Join(ids, `", "`)+`"], `+body+`}`, &answer, http.StatusOK,
			http.StatusAccepted)
		// it takes longer than a request is kept waiting
		for status == http.StatusAccepted && answer.State == "running" {
			time.Sleep(50 * time.Millisecond)
			s.call(http.MethodGet, "/v1/correlations/"+answer.ID, "", http.StatusOK, &answer)
		}
		if answer.State != "done" || answer.Groups != 300 || len(answer.Pairs) == 0 {
			t.Errorf("%s: got %+v", body, answer)
		}
		return answer
	}
	var onDevice []servedCorrelation
	var figures map[string]float64
	for range 3 { // on a busy machine, kernels of the host may take longer than a device may
		onDevice = onDevice[:0]
		for _, body := range bodies {
			onDevice = append(onDevice, ask(s, body))
		}
		if figures = s.figures(); figures["gnocco_correlator_fallbacks_total"] == 0 {
			break
		}
		s.end(syscall.SIGTERM)
		s = serve(t, "--data", data, "--gpu", "on")
	}
	for line, want := range map[string]func(float64) bool{
		`gnocco_correlator_correlations_total{engine="device"}`: func(v float64) bool {
			return v == float64(len(bodies))
		},
		`gnocco_correlator_values_total{engine="device"}`: func(v float64) bool {
			return v == float64(len(bodies)*5*300)
		},
		`gnocco_correlator_fallbacks_total`: func(v float64) bool {
			return v == 0
		},
		`gnocco_correlator_device_phase_seconds_total{phase="pairs"}`: func(v float64) bool {
			return v > 0
		},
		`gnocco_gpu_launches_total{device="0",work="correlations"}`: func(v float64) bool {
			return v > 0
		},
		`gnocco_gpu_uploaded_bytes_total{device="0",work="correlations"}`: func(v float64) bool {
			return v >= float64(len(bodies)*5*300*8)
		},
		`gnocco_gpu_downloaded_bytes_total{device="0",work="correlations"}`: func(v float64) bool {
			return v > 0
		},
		// it was given back
		`gnocco_gpu_up{device="0",work="correlations"}`: func(v float64) bool {
			return v == 0
		},
		`gnocco_gpu_memory_held_bytes{device="0",work="correlations"}`: func(v float64) bool {
			return v == 0
		},
		`gnocco_gpu_launches_total{device="0",work="resampling"}`: func(v float64) bool {
			return v >= 0
		},
		`gnocco_gpu_memory_unused_bytes{device="0",work="correlations"}`: func(v float64) bool {
			return v == 0
		},
		`gnocco_gpu_pinned_bytes{device="0",direction="upload",work="correlations"}`: func(v float64) bool {
			return v == 0
		},
	} {
		if v, ok := figures[line]; !ok || !want(v) {
			t.Errorf("%s is %v (%v)", line, v, ok)
		}
	}
	s.end(syscall.SIGTERM)

	s = serve(t, "--data", data, "--gpu", "off")
	for k, body := range bodies {
		want, got := ask(s, body), onDevice[k]
		if got.Total != want.Total || fmt.Sprint(got.Constant) != fmt.Sprint(want.Constant) ||
			len(got.Pairs) != len(want.Pairs) {
			t.Errorf("%s: got %+v, want %+v", body, got, want)
			continue
		}
		for i, p := range got.Pairs {
			q := want.Pairs[i]
			if math.Abs(p.R-q.R) > 1e-12 {
				t.Errorf("%s: got %+v, want %+v", body, p, q)
			}
			if p.R, q.R = 0, 0; p != q {
				t.Errorf("%s: got %+v, want %+v", body, p, q)
			}
		}
	}
	if v := s.figures()[`gnocco_correlator_correlations_total{engine="cpu"}`]; v != float64(len(bodies)) {
		t.Errorf("%v correlations on the CPU", v)
	}
}
