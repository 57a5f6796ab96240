package crash_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gnocco-db/gnocco/tests/fatal"
	"github.com/gnocco-db/gnocco/tests/seedtest"
)

// TestKilledRebuild changes an archive policy again and again while measures come in, and kills the server in the midst
// of the rebuilds. Every measure counts once in every granularity, whenever that was added.
func TestKilledRebuild(t *testing.T) {
	const metrics, ticks, looked = 600, 40, 60
	s := newServer(t)
	s.start()
	defer s.kill()
	rng := rand.New(rand.NewPCG(seedtest.Next(t), 0))
	s.mustDo("POST", "/v1/archive_policy",
		[]byte(`{"name": "p", "definition": [{"granularity": 1}], "aggregation_methods": ["count", "sum"]}`),
		http.StatusCreated)
	var ids []string
	for range metrics {
		var m struct{ ID string }
		fatal.If(t, json.Unmarshal(s.mustDo("POST", "/v1/metric", []byte(`{"archive_policy_name": "p"}`),
			http.StatusCreated), &m))
		ids = append(ids, m.ID)
	}
	now := firstSecond
	post := func() {
		t.Helper()
		now += 1 + rng.IntN(20)
		var body bytes.Buffer
		for i, id := range ids {
			fmt.Fprintf(&body, `%c%q:[{"timestamp":%d,"value":1}]`, "{,"[min(i, 1)], id, now)
		}
		body.WriteByte('}')
		for { // sent again after a kill, it is the same measure
			if status, _, err := s.do(context.Background(), "POST", "/v1/batch/metrics/measures",
				body.Bytes()); err == nil && status == http.StatusAccepted {
				return
			}
			s.kill()
			s.start()
		}
	}
	sent, killed := 0, 0
	for range ticks {
		post()
		sent++
	}
	kills := 3 // of a rebuild
	if testing.Short() {
		kills = 1
	}
	policies := []string{
		`{"definition": [{"granularity": 1}, {"granularity": 10}], "aggregation_methods": ["count", "sum", "mean", "max"]}`,
		`{"definition": [{"granularity": 10}, {"granularity": 60}], "aggregation_methods": ["count", "sum"]}`,
		`{"definition": [{"granularity": 60}, {"granularity": 600}, {"granularity": 120}], "aggregation_methods": ["count", "sum", "median"]}`,
	}
	granularities := [][]int{{1, 10}, {10, 60}, {60, 120, 600}}
	for i, policy := range policies {
		s.mustDo("PATCH", "/v1/archive_policy/p?rebuild=true", []byte(policy), http.StatusOK)
		for range kills {
			time.Sleep(time.Duration(rng.IntN(60)) * time.Millisecond)
			s.kill()
			killed++
			s.start()
			post()
			sent++
		}
		waitForRebuild(t, s)
		for range looked {
			id := ids[rng.IntN(len(ids))]
			for _, g := range granularities[i] {
				for _, method := range []string{"count", "sum"} {
					if total := totalOf(t, s, id, g, method); total != float64(sent) {
						t.Fatalf("%s of metric %s at %d s: %v, want %d", method, id, g, total, sent)
					}
				}
			}
		}
	}
	t.Logf("%d measures a metric, %d kills", sent, killed)
}

// waitForRebuild returns once the one there is is done.
func waitForRebuild(t *testing.T, s *server) {
	t.Helper()
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		var jobs []struct {
			State                    string
			Changed, Failed, Metrics int
		}
		if err := json.Unmarshal(s.mustDo("GET", "/v1/rebuild", nil, http.StatusOK), &jobs); err != nil ||
			len(jobs) != 1 {
			t.Fatal(jobs, err)
		}
		if jobs[0].Failed > 0 {
			t.Fatal(jobs)
		}
		if jobs[0].State == "done" {
			return
		}
	}
	t.Fatalf("no end:\n%s", s.log)
}

// totalOf returns the sum over all aggregates of a metric.
func totalOf(t *testing.T, s *server, id string, granularity int, method string) (total float64) {
	t.Helper()
	var rows [][]any
	path := fmt.Sprintf("/v1/metric/%s/measures?refresh=true&granularity=%d&aggregation=%s", id, granularity,
		strings.ReplaceAll(method, ":", "%3A"))
	fatal.If(t, json.Unmarshal(s.mustDo("GET", path, nil, http.StatusOK), &rows))
	for _, row := range rows {
		total += row[2].(float64)
	}
	return total
}
