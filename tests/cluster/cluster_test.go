package cluster_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

const firstSecond = 1_700_000_000

// newMetrics creates an archive policy and so many metrics.
func newMetrics(t testing.TB, p *process, n int) []string {
	t.Helper()
	return metricsOf(t, p, "cluster", 100_000, n)
}

// metricsOf creates an archive policy, whose blocks are seconds, and so many metrics.
func metricsOf(t testing.TB, p *process, policy string, backWindow, n int) []string {
	t.Helper()
	p.mustDo(http.MethodPost, "/v1/archive_policy", fmt.Sprintf(`{"name": %q, "definition": [{"granularity": 1}],
		"aggregation_methods": ["count", "sum"], "back_window": %d}`, policy, backWindow), http.StatusCreated)
	var ids []string
	for range n {
		ids = append(ids, newMetricOf(t, p, policy))
	}
	return ids
}

// newMetric creates one more metric as newMetrics did.
func newMetric(t testing.TB, p *process) string { return newMetricOf(t, p, "cluster") }

func newMetricOf(t testing.TB, p *process, policy string) string {
	t.Helper()
	var created struct{ ID string }
	if err := json.Unmarshal(p.mustDo(http.MethodPost, "/v1/metric", fmt.Sprintf(`{"archive_policy_name": %q}`, policy),
		http.StatusCreated), &created); err != nil {
		t.Fatal(err)
	}
	return created.ID
}

// sender posts to one API: each request has a second of its own, for all metrics.
type sender struct {
	metrics []string
	seconds *atomic.Int64 // the next one, for all senders
	acked   []int64
	doubt   map[int64]bool // seconds of requests without an answer: there or not
}

// post sends requests to p, one after the other, until done or until p is gone.
func (s *sender) post(t *testing.T, p *process, done <-chan struct{}) {
	for {
		select {
		case <-done:
			return
		default:
		}
		status, answer, err := s.send(p)
		if err != nil {
			return
		}
		if status != http.StatusAccepted {
			t.Errorf("POST answered %d: %s", status, answer)
			return
		}
	}
}

// send sends one request to p, and remembers what came of it.
func (s *sender) send(p *process) (status int, answer []byte, err error) {
	second := s.seconds.Add(1)
	var body strings.Builder
	for i, id := range s.metrics {
		fmt.Fprintf(&body, `%c%q:[{"timestamp":%d,"value":%d}]`, "{,"[min(i, 1)], id, firstSecond+second, second)
	}
	body.WriteByte('}')
	status, _, answer, err = p.do(http.MethodPost, "/v1/batch/metrics/measures", body.String())
	switch {
	case err == nil && status == http.StatusAccepted:
		s.acked = append(s.acked, second)
	case err != nil || status >= 500:
		s.doubt[second] = true
	}
	return status, answer, err
}

// aggregates reads a metric's aggregates by second after firstSecond. It comes again for as long as it is told to.
func aggregates(t testing.TB, p *process, metric, method string) map[int64]float64 {
	t.Helper()
	path := "/v1/metric/" + metric + "/measures?refresh=true&granularity=1&aggregation=" + method
	var rows [][3]any
	for deadline := time.Now().Add(patience); ; time.Sleep(50 * time.Millisecond) {
		status, header, answer, err := p.do(http.MethodGet, path, "")
		if err != nil {
			t.Fatal(err)
		}
		if status == http.StatusServiceUnavailable && header.Get("Retry-After") != "" && time.Now().Before(deadline) {
			continue
		}
		if status != http.StatusOK {
			t.Fatalf("GET %s: %d %s\n%s", path, status, answer, p.log.String())
		}
		if err := json.Unmarshal(answer, &rows); err != nil {
			t.Fatal(err)
		}
		break
	}
	found := make(map[int64]float64)
	for _, row := range rows {
		at, err := time.Parse(time.RFC3339, row[0].(string))
		if err != nil {
			t.Fatal(err)
		}
		found[at.Unix()-firstSecond] = row[2].(float64)
	}
	return found
}

// check reads every metric: acknowledged measures count once, and only measures in doubt may be there besides.
func check(t *testing.T, p *process, metrics []string, senders ...*sender) {
	t.Helper()
	acked := 0
	for _, metric := range metrics {
		counts, sums := aggregates(t, p, metric, "count"), aggregates(t, p, metric, "sum")
		for _, s := range senders {
			for _, second := range s.acked {
				acked++
				if counts[second] != 1 || sums[second] != float64(second) {
					time.Sleep(10 * time.Second)
					t.Fatalf("metric %s, second %d: count %v, sum %v; 10 s later count %v", metric, second,
						counts[second], sums[second], aggregates(t, p, metric, "count")[second])
				}
				delete(counts, second)
			}
			for second := range s.doubt {
				if n, ok := counts[second]; ok && n != 1 {
					t.Fatalf("metric %s, second %d, in doubt: count %v", metric, second, n)
				}
				delete(counts, second)
			}
		}
		if len(counts) > 0 {
			t.Fatalf("metric %s has what nobody sent: %v", metric, counts)
		}
	}
	if acked == 0 {
		t.Fatal("nothing was accepted")
	}
	t.Logf("%d measures acknowledged", acked)
}

// Accepted measures count once, and measures are accepted all the time, while processes die and start.
func TestMeasuresCountOnce(t *testing.T) {
	data := t.TempDir()
	first := start(t, data, "api")
	metrics := newMetrics(t, first, 24)
	worker := start(t, data, "metricd")
	other := start(t, data, "metricd")
	second := start(t, data, "api")

	var seconds atomic.Int64
	done, doomed := make(chan struct{}), make(chan struct{})
	defer close(doomed)
	a := &sender{metrics: metrics, seconds: &seconds, doubt: map[int64]bool{}}
	b := &sender{metrics: metrics, seconds: &seconds, doubt: map[int64]bool{}}
	var steady, dying sync.WaitGroup
	steady.Go(func() { a.post(t, first, done) })
	dying.Go(func() { b.post(t, second, doomed) }) // until its process is killed
	rest := func() { time.Sleep(700 * time.Millisecond) }

	rest()
	worker.kill()
	rest()
	for at, count := range aggregates(t, second, metrics[0], "count") {
		if count != 1 {
			t.Fatalf("second %d counts %v after a takeover", at, count)
		}
	}
	third := start(t, data, "metricd")
	rest()
	second.kill() // its incoming store is adopted
	dying.Wait()
	rest()
	other.stop()
	rest()
	fourth := start(t, data, "api")
	rest()
	close(done)
	steady.Wait()
	check(t, first, metrics, a, b)
	check(t, fourth, metrics[:4], a, b)
	third.stop()
	fourth.stop()
	first.stop()

	// All of it lies in the folder, and one process can have it.
	alone := start(t, data, "serve")
	check(t, alone, metrics[:4], a, b)
	alone.stop()
}

// Measures of known metrics are taken while there is neither a metricd nor a holder of the index, and nothing is said
// of unknown ones. When there is one again, all comes to be processed, and what the dead process had is adopted and
// removed.
func TestMeasuresAreTakenWhoeverIsDead(t *testing.T) {
	data := t.TempDir()
	holder := start(t, data, "api")
	metrics := newMetrics(t, holder, 4)
	late := newMetric(t, holder)
	taker := start(t, data, "api")
	post := func(p *process, metric string, second, want int) http.Header {
		t.Helper()
		status, header, answer, err := p.do(http.MethodPost, "/v1/metric/"+metric+"/measures",
			fmt.Sprintf(`[{"timestamp": %d, "value": %d}]`, firstSecond+second, second))
		if err != nil || status != want {
			t.Fatalf("POST: %d %s %v\n%s", status, answer, err, p.log.String())
		}
		return header
	}
	for _, metric := range metrics {
		post(taker, metric, 1, http.StatusAccepted)
		post(holder, metric, 2, http.StatusAccepted)
	}
	if status, header, _, err := taker.do(http.MethodGet, "/v1/metric/"+metrics[0]+
		"/measures?aggregation=sum", ""); err != nil ||
		status != http.StatusServiceUnavailable || header.Get("Retry-After") == "" {
		t.Errorf("a read without a metricd: %d %v", status, err)
	}

	// Stopped, the holder keeps its lease for a while, but answers nobody.
	holder.pause()
	for _, metric := range metrics {
		post(taker, metric, 3, http.StatusAccepted)
	}
	if header := post(taker, late, 3, http.StatusServiceUnavailable); header.Get("Retry-After") == "" {
		t.Error("a 503 does not say when to come again")
	}
	holder.kill()
	taker.eventually("takes the index", func() bool {
		status, _, _, err := taker.do(http.MethodGet, "/v1/metric/"+late, "")
		return err == nil && status == http.StatusOK
	})
	post(taker, late, 3, http.StatusAccepted)
	worker := start(t, data, "metricd")
	sent := &sender{acked: []int64{1, 2, 3}}
	check(t, taker, metrics, sent)
	check(t, taker, []string{late}, &sender{acked: []int64{3}})
	worker.eventually("has drained the dead process's store", func() bool {
		stores, err := os.ReadDir(filepath.Join(data, "incoming"))
		return err == nil && len(stores) == 1
	})
	check(t, taker, metrics, sent)

	var status struct {
		Metricd struct{ Processors []string }
		Cluster struct {
			Members []struct{ ID string }
			Claims  []struct {
				Name, Member string
				Epoch        uint64
			}
		}
	}
	if err := json.Unmarshal(taker.mustDo(http.MethodGet, "/v1/status", "", http.StatusOK), &status); err != nil {
		t.Fatal(err)
	}
	if len(status.Metricd.Processors) != 1 || len(status.Cluster.Members) != 2 || len(status.Cluster.Claims) != 8+2 {
		t.Errorf("status tells %+v", status)
	}
	if figures := string(worker.mustDo(http.MethodGet, "/metrics", "", http.StatusOK)); !strings.Contains(figures,
		`gnocco_cluster_members{role="metricd"} 1`) {
		t.Errorf("figures of metricd:\n%s", figures)
	}
}

// A process that stood still for longer than its lease ends when it goes on, and has done no harm: others have its
// sacks.
func TestProcessThatStoodStillEnds(t *testing.T) {
	data := t.TempDir()
	// A second would do for the test, but on a busy disk the others could not hold their leases either.
	lease := []string{"--lease-ttl", "4s", "--lease-slack", "500ms"}
	api := start(t, data, "api", lease...)
	metrics := newMetrics(t, api, 8)
	still := start(t, data, "metricd", lease...)
	body := func(second int) string {
		return fmt.Sprintf(`[{"timestamp": %d, "value": %d}]`, firstSecond+second, second)
	}
	for _, metric := range metrics {
		api.mustDo(http.MethodPost, "/v1/metric/"+metric+"/measures", body(1), http.StatusAccepted)
		aggregates(t, api, metric, "count")
	}
	still.pause()
	start(t, data, "metricd", lease...)
	for _, metric := range metrics {
		api.mustDo(http.MethodPost, "/v1/metric/"+metric+"/measures", body(2), http.StatusAccepted)
	}
	check(t, api, metrics, &sender{acked: []int64{1, 2}})
	if err := still.cmd.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	select {
	case <-still.ended:
	case <-time.After(patience):
		still.giveUp("ends")
	}
	const exitFenced = 3
	if code := still.cmd.ProcessState.ExitCode(); code != exitFenced ||
		!strings.Contains(still.log.String(), "lost the lease on the data folder") {
		t.Errorf("status %d:\n%s", code, still.log.String())
	}
	check(t, api, metrics, &sender{acked: []int64{1, 2}})
}

// The processes' own port and the public one know nothing of each other's credentials.
func TestPublicCredentialsDoNotReachInside(t *testing.T) {
	data := t.TempDir()
	p := start(t, data, "serve")
	key, err := os.ReadFile(filepath.Join(data, "key"))
	if err != nil {
		t.Fatal(err)
	}
	inside := &process{t: t, url: "http://" + regexp.MustCompile(`peers=(\S+)`).FindStringSubmatch(p.log.String())[1]}
	for _, path := range []string{"/peer/status", "/peer/api/v1/archive_policy", "/peer/poll", "/", "/metrics"} {
		for _, method := range []string{http.MethodGet, http.MethodPost} {
			if status, _, answer, err := inside.do(method, path, ""); err != nil || status != http.StatusForbidden {
				t.Errorf("%s %s as admin: %d %s %v", method, path, status, answer, err)
			}
		}
		if path == "/" || path == "/metrics" {
			continue
		}
		request, err := http.NewRequest(http.MethodPost, p.url+path, strings.NewReader("{}"))
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Gnocco-Peer-Key", strings.TrimSpace(string(key)))
		response, err := browser.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		if response.StatusCode != http.StatusNotFound {
			t.Errorf("%s on the public port: %s", path, response.Status)
		}
	}
	p.stop()
}
