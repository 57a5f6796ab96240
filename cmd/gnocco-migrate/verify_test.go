package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

// Gnocchi keeps aggregates of a method for the timespan before that method's newest one, and a group of one measure has
// no std: its std of old groups stays longer than all else. The copy lacks them by right. Values
// within the timespan must be in both.
func TestVerifyBeyondTheTimespan(t *testing.T) {
	minute, points := time.Minute, int64(10)
	policy, err := model.NewArchivePolicy("p", 0, []model.DefinitionInput{{Granularity: &minute, Points: &points}},
		[]string{"mean", "std"})
	fatal.If(t, err)
	m := &model.Metric{ID: uuid.New(), ArchivePolicy: policy}
	server := func(minutes map[string][]int) *restSource {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			rows := [][]any{}
			for _, at := range minutes[r.URL.Query().Get("aggregation")] {
				rows = append(rows, []any{time.Unix(int64(1767225600+60*at), 0).UTC().Format("2006-01-02T15:04:05+00:00"), 60.0, float64(at)})
			}
			_ = json.NewEncoder(w).Encode(rows)
		}))
		t.Cleanup(s.Close)
		source, err := newREST(s.URL, &access{})
		fatal.If(t, err)
		return source
	}
	f := func(sourceStd, copyStd []int, differences, expired int) {
		t.Helper()
		means := []int{11, 12, 13, 14, 15, 16, 17, 18, 19, 20}
		v := &verification{from: server(map[string][]int{"mean": means, "std": sourceStd}), workers: 1, progress: io.Discard,
			to: server(map[string][]int{"mean": means, "std": copyStd}), methods: make(map[string]*comparison), told: time.Now()}
		fatal.If(t, v.metric(t.Context(), m, 0))
		var report strings.Builder
		if v.report(&report, ""); v.differences() != differences ||
			!strings.Contains(report.String(), fmt.Sprint("The source has ", expired, " value")) {
			t.Errorf("%v, %v:\n%s", sourceStd, copyStd, &report)
		}
	}
	f([]int{5, 8, 10, 11, 14}, []int{11, 14}, 0, 3)
	f([]int{5, 8, 10}, nil, 0, 3)
	f([]int{5, 8, 11, 14}, []int{14}, 1, 2)
	f([]int{8, 14}, []int{9, 14}, 1, 1)
}
