package cluster_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// narrowMetrics creates metrics without a back window: a measure a second older than the newest is too old.
func narrowMetrics(t testing.TB, p *process, n int) []string {
	t.Helper()
	return metricsOf(t, p, "narrow", 0, n)
}

// postSecond sends one measure of a metric, whose value is its second, and waits for its 202.
func (p *process) postSecond(metric string, second int) {
	p.t.Helper()
	p.mustDo(http.MethodPost, "/v1/metric/"+metric+"/measures",
		fmt.Sprintf(`[{"timestamp": %d, "value": %d}]`, firstSecond+second, second), http.StatusAccepted)
}

// checkSeconds reads a metric, which must have the seconds from 1 to last.
func checkSeconds(t testing.TB, p *process, metric string, last int) (missing int) {
	t.Helper()
	found := aggregates(t, p, metric, "sum")
	for second := 1; second <= last; second++ {
		if found[int64(second)] != float64(second) {
			missing++
		}
	}
	return missing
}

var tooOld = regexp.MustCompile(`(?m)^gnocco_metricd_measures_dropped_total\{reason="too_old"\} (\S+)$`)

// droppedAsTooOld reads a process's count.
func (p *process) droppedAsTooOld() int {
	p.t.Helper()
	m := tooOld.FindSubmatch(p.mustDo(http.MethodGet, "/metrics", "", http.StatusOK))
	if m == nil {
		p.t.Fatal("metricd does not count what it drops")
	}
	n, err := strconv.Atoi(string(m[1]))
	if err != nil {
		p.t.Fatal(err)
	}
	return n
}

// Clients that wait for each 202, and alternate between processes of the API, send in order: no measure is too old,
// though the back window is 0. The clocks of the processes, as on machines of their own, are two seconds apart.
func TestInOrderThroughAllAPIs(t *testing.T) {
	data := t.TempDir()
	apis := []*process{start(t, data, "api", "--test-clock-shift", "-1s"),
		start(t, data, "api", "--test-clock-shift", "1s")}
	worker := start(t, data, "metricd", "--listen", "127.0.0.1:0")
	const clients = 4
	seconds := 400
	if testing.Short() {
		seconds = 150
	}
	metrics := narrowMetrics(t, apis[0], clients)
	var all sync.WaitGroup
	for i, metric := range metrics {
		all.Go(func() {
			for second := 1; second <= seconds; second++ {
				apis[(i+second)%len(apis)].postSecond(metric, second)
			}
		})
	}
	all.Wait()
	for _, metric := range metrics {
		if missing := checkSeconds(t, apis[0], metric, seconds); missing > 0 {
			t.Errorf("%d of %d acknowledged measures are missing", missing, seconds)
		}
	}
	if n := worker.droppedAsTooOld(); n > 0 {
		t.Errorf("%d measures were dropped as too old", n)
	}
}

// Measures that a process of the API acknowledged before it died are not too old because of later measures through
// another one, though these are processed first.
func TestInOrderThroughADeath(t *testing.T) {
	data := t.TempDir()
	lease := []string{"--lease-ttl", "5s"}
	steady := start(t, data, "api", lease...)
	doomed := start(t, data, "api", lease...)
	worker := start(t, data, "metricd", lease...)
	metrics := narrowMetrics(t, steady, 50)
	for _, metric := range metrics {
		doomed.postSecond(metric, 1)
		if missing := checkSeconds(t, steady, metric, 1); missing > 0 {
			t.Fatal("the first measure is missing")
		}
	}
	worker.pause()
	for _, metric := range metrics {
		doomed.postSecond(metric, 2)
		steady.postSecond(metric, 3)
	}
	doomed.kill()
	if err := worker.signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	missing := 0
	for _, metric := range metrics {
		missing += checkSeconds(t, steady, metric, 3)
	}
	if missing > 0 {
		t.Errorf("%d of %d acknowledged measures are missing", missing, 2*len(metrics))
	}
}

// A machine that started years ahead leaves its reading in the data folder, and all later clocks begin there. Once all
// is processed and the processes have ended, an operator removes the reading: later measures still count as later.
func TestReadingYearsAheadIsRemoved(t *testing.T) {
	data := t.TempDir()
	years := 3 * 365 * 24 * time.Hour
	readings := func() []string {
		names, err := filepath.Glob(filepath.Join(data, "clocks", "latest.*", "readings", "*"))
		if err != nil || len(names) == 0 {
			t.Fatalf("readings %v, error %v", names, err)
		}
		return names
	}
	ahead := func() bool {
		return slices.ContainsFunc(readings(), func(name string) bool {
			reading, err := strconv.ParseInt(filepath.Base(name), 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			return time.Until(time.Unix(0, reading)) > years/2
		})
	}
	var metric string
	run := func(second, sum int, flags ...string) (log string) {
		api, worker := start(t, data, "api", flags...), start(t, data, "metricd", "--listen", "127.0.0.1:0")
		if metric == "" {
			metric = narrowMetrics(t, api, 1)[0]
		}
		if second > 1 { // of two measures with one timestamp the later one counts
			api.mustDo(http.MethodPost, "/v1/metric/"+metric+"/measures",
				fmt.Sprintf(`[{"timestamp": %d, "value": %d}]`, firstSecond+second-1, sum), http.StatusAccepted)
		}
		api.postSecond(metric, second)
		if found := aggregates(t, api, metric, "sum"); found[int64(second)] != float64(second) ||
			second > 1 && found[int64(second-1)] != float64(sum) {
			t.Errorf("sums after second %d: %v", second, found)
		}
		api.eventually("has processed all", func() bool {
			status := string(api.mustDo(http.MethodGet, "/v1/status?details=false", "", http.StatusOK))
			return strings.Contains(strings.ReplaceAll(status, " ", ""), `"measures":0}`)
		})
		if n := worker.droppedAsTooOld(); n > 0 {
			t.Errorf("%d measures are too old", n)
		}
		worker.stop()
		api.stop()
		return api.log.String()
	}
	const set = "the clock of this machine is wrong, and is set"
	run(1, 0, "--test-clock-shift", years.String())
	// A shifted clock keeps no reading by itself. Earlier builds kept them so.
	kept := filepath.Join(data, "clocks", fmt.Sprintf("latest.%d", time.Now().Add(years).UnixNano()))
	if err := os.WriteFile(kept, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if log := run(2, 10); !strings.Contains(log, set) || !ahead() {
		t.Errorf("a clock does not begin at the latest reading: %s", log)
	}
	folders, err := filepath.Glob(filepath.Join(data, "clocks", "latest.*"))
	for _, name := range folders {
		err = errors.Join(err, os.RemoveAll(name))
	}
	if err != nil {
		t.Fatal(err)
	}
	if log := run(3, 20); strings.Contains(log, set) || ahead() {
		t.Errorf("without the reading a clock is set: %s", log)
	}
}

var suspensions = regexp.MustCompile(`(?m)^gnocco_order_suspensions_total (\S+)$`)

// A process of the API that stands still is waited for no longer than --order-wait. That shows in the status, a counter
// and the log, until it goes on.
func TestSilentAPIIsSuspended(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: make test SHORT= runs it") // 20 s, mostly of waiting
	}
	t.Parallel()
	data := t.TempDir()
	flags := []string{"--lease-ttl", "5m", "--order-wait", "5s"} // the lease stays, and nobody adopts the store
	steady := start(t, data, "api", flags...)
	silent := start(t, data, "api", flags...)
	worker := start(t, data, "metricd", append(flags, "--listen", "127.0.0.1:0")...)
	metric := narrowMetrics(t, steady, 1)[0]
	for second, p := range []*process{steady, silent} {
		p.postSecond(metric, second+1)
	}
	if missing := checkSeconds(t, steady, metric, 2); missing > 0 {
		t.Fatalf("%d of 2 measures are missing", missing)
	}
	suspended := func() (stores []string) {
		t.Helper()
		var status struct{ Cluster struct{ Suspended []string } }
		if err := json.Unmarshal(steady.mustDo(http.MethodGet, "/v1/status", "", http.StatusOK), &status); err != nil {
			t.Fatal(err)
		}
		return status.Cluster.Suspended
	}
	shows := func(count, message string) bool {
		m := suspensions.FindSubmatch(worker.mustDo(http.MethodGet, "/metrics", "", http.StatusOK))
		return m != nil && string(m[1]) == count && strings.Contains(worker.log.String(), message)
	}
	if s := suspended(); len(s) > 0 || !shows("0", "") {
		t.Fatalf("%v are suspended from the beginning", s)
	}
	silent.pause()
	steady.eventually("says that a store is suspended", func() bool { return len(suspended()) == 1 })
	worker.eventually("counts and logs it", func() bool { return shows("1", "incoming store is silent") })
	steady.postSecond(metric, 3) // others' measures go on
	if err := silent.signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	steady.eventually("says that none is suspended", func() bool { return len(suspended()) == 0 })
	worker.eventually("logs it", func() bool { return shows("1", "incoming store is heard again") })
	silent.postSecond(metric, 4)
	if missing := checkSeconds(t, steady, metric, 4); missing > 0 {
		t.Errorf("%d of 4 measures are missing", missing)
	}
}
