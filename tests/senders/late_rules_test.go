package senders_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/klauspost/compress/s2"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/gnocco-db/gnocco/internal/client"
)

var lateRules = flag.Bool("senders.late", false, "run TestLateRules, which takes five minutes")

// lateExprs are the rules, and for how many seconds they read. The last one comes at the end. Each server is held to
// its own answer, since they differ in what a rate is.
var lateExprs = []struct {
	expr    string
	seconds int
}{{"sum by (job) (load)", 1}, {"avg by (job) (avg_over_time(load[5s]))", 5},
	{"sum by (job) (increase(requests_total[10s]))", 10}, {"max by (job) (load)", 1}}

// lateFile is a rule file of the first rules but some, a minute being a second.
func lateFile(but int) string {
	var b strings.Builder
	b.WriteString("groups:\n- name: g\n  interval: 1s\n  rules:\n")
	for i, one := range lateExprs[:len(lateExprs)-but] {
		fmt.Fprintf(&b, "  - {record: \"rule:%d\", expr: %q}\n", i, one.expr)
	}
	return b.String()
}

// ruler is a server with recording rules, and the samples that it has yet to get.
type ruler struct {
	name, url   string
	start, kill func()
	apply       func()
	waits       []late
	refused     int
}

// late is a sample, and when it is sent.
type late struct {
	series string
	at     time.Time
	value  float64
	sent   time.Time
}

// send sends the samples that are due. They wait for a server that is down.
func (r *ruler) send(t *testing.T, now time.Time) {
	var message []byte
	nested := func(dst []byte, number protowire.Number, content []byte) []byte {
		return protowire.AppendBytes(protowire.AppendTag(dst, number, protowire.BytesType), content)
	}
	var rest []late
	for _, s := range r.waits {
		if s.sent.After(now) {
			rest = append(rest, s)
			continue
		}
		var one []byte
		for label := range strings.SplitSeq(s.series, ",") {
			name, value, _ := strings.Cut(label, "=")
			one = nested(one, 1, nested(nested(nil, 1, []byte(name)), 2, []byte(value)))
		}
		m := protowire.AppendFixed64(protowire.AppendTag(nil, 1, protowire.Fixed64Type), math.Float64bits(s.value))
		m = protowire.AppendVarint(protowire.AppendTag(m, 2, protowire.VarintType), uint64(s.at.UnixMilli()))
		message = nested(message, 1, nested(one, 2, m))
	}
	if message == nil {
		return
	}
	q, err := http.NewRequestWithContext(t.Context(), http.MethodPost, r.url+"/api/v1/write",
		bytes.NewReader(s2.EncodeSnappy(nil, message)))
	check(t, err)
	q.Header.Set("Content-Type", "application/x-protobuf")
	q.Header.Set("Content-Encoding", "snappy")
	q.SetBasicAuth("admin", "")
	response, err := http.DefaultClient.Do(q)
	if err != nil {
		return // it is down
	}
	defer response.Body.Close()
	if body, _ := io.ReadAll(response.Body); response.StatusCode/100 == 2 {
		r.waits = rest
	} else if response.StatusCode/100 == 4 {
		r.refused++
		r.waits = rest
		t.Logf("%s: %s %.200s", r.name, response.Status, body)
	}
}

// TestLateRules counts the cells of rules that differ from their expression once all samples are there: 5 % of them
// come 20 s late, the evaluator restarts within 5 s, is away for a minute, and counters begin anew. A second stands for
// a minute. Samples come long before the cells that read them, by the clock of each evaluator: cells that read no late
// one must be right everywhere. The table of docs/decisions/0127 is what it logs.
func TestLateRules(t *testing.T) {
	if !*lateRules {
		t.Skip("-senders.late is false")
	}
	prometheus, victoria := installed(t, "prometheus"), installed(t, "victoria-metrics")
	vmalert := installed(t, "vmalert")
	var all []*ruler
	file := func(name string) func(int) string {
		path := filepath.Join(t.TempDir(), name)
		return func(n int) string {
			check(t, os.WriteFile(path, []byte(lateFile(n)), 0o600))
			return path
		}
	}
	// Prometheus evaluates over what it has itself.
	var running *os.Process
	address, rules := freeAddress(t), file("prometheus.yml")
	config := write(t, "config.yml", "global: {evaluation_interval: 1s}\nrule_files: [%q]\n"+
		"storage: {tsdb: {out_of_order_time_window: 1h}}\n", rules(1))
	folder := filepath.Join(t.TempDir(), "tsdb")
	p := &ruler{name: "Prometheus", url: "http://" + address}
	p.start = func() {
		running = launch(t, prometheus, "--config.file="+config, "--storage.tsdb.path="+folder,
			"--web.listen-address="+address, "--web.enable-remote-write-receiver")
	}
	p.kill = func() { _ = running.Kill() }
	p.apply = func() {
		rules(0)
		check(t, running.Signal(syscall.SIGHUP))
	}
	all = append(all, p)
	// vmalert evaluates over VictoriaMetrics.
	stored, alerts := freeAddress(t), freeAddress(t)
	launch(t, victoria, "-storageDataPath="+filepath.Join(t.TempDir(), "vm"), "-httpListenAddr="+stored,
		"-search.latencyOffset=1s", "-search.disableCache")
	var evaluator *os.Process
	vmRules := file("vmalert.yml")
	path := vmRules(1)
	v := &ruler{name: "vmalert", url: "http://" + stored}
	v.start = func() {
		evaluator = launch(t, vmalert, "-rule="+path, "-evaluationInterval=1s", "-datasource.url=http://"+stored,
			"-datasource.lookback=3s", // an answer may lack what came less than about 2 s ago
			"-remoteWrite.url=http://"+stored, "-remoteWrite.flushInterval=1s", "-httpListenAddr="+alerts,
			"-notifier.url=http://"+freeAddress(t))
	}
	v.kill = func() { _ = evaluator.Kill() }
	v.apply = func() {
		vmRules(0)
		check(t, evaluator.Signal(syscall.SIGHUP))
	}
	all = append(all, v)
	// Gnocco evaluates by itself.
	g := startProcess(t)
	c, err := client.New(g.url(), client.Options{User: "admin"})
	check(t, err)
	ours := &ruler{name: "Gnocco", url: g.url()}
	ours.start = g.run
	ours.kill = func() { g.end(syscall.SIGKILL) }
	ours.apply = func() { check(t, c.Do(t.Context(), "POST", "/v1/rules", lateFile(0), nil)) }
	check(t, c.Do(t.Context(), "POST", "/v1/rules", lateFile(1), nil))
	all = append(all, ours)
	p.start()
	v.start()

	rng := rand.New(rand.NewPCG(1, 2))
	counters := map[string]float64{}
	phase := phaseOf(t, p.url)
	began := time.Now().Add(3 * time.Second).Truncate(time.Second).Add(phase)
	lates := map[string][]time.Time{} // by job
	ended := began.Add(210 * time.Second)
	var steps []func()
	at := func(second int, f func()) {
		steps = append(steps, func() {
			if f != nil && time.Since(began) >= time.Duration(second)*time.Second {
				f()
				f = nil
			}
		})
	}
	each := func(f func(r *ruler)) func() {
		return func() {
			for _, r := range all {
				f(r)
			}
		}
	}
	kill, begin := each(func(r *ruler) { r.kill() }), each(func(r *ruler) { r.start() })
	at(60, kill)
	at(65, begin)
	at(90, kill)
	at(150, begin)
	at(180, func() { clear(counters) })
	at(205, each(func(r *ruler) { r.apply() }))
	for next := began; time.Now().Before(ended.Add(25 * time.Second)); time.Sleep(50 * time.Millisecond) {
		for now := time.Now(); !next.After(now) && next.Before(ended); next = next.Add(time.Second) {
			for i := range 20 {
				for _, name := range []string{"load", "requests_total"} {
					job := []string{"api", "db"}[i%2]
					series := fmt.Sprintf("__name__=%s,instance=%d,job=%s", name, i, job)
					s := late{series, next, float64(1 + rng.IntN(100)), next}
					if name == "requests_total" {
						counters[series] += s.value
						s.value = counters[series]
					}
					if rng.IntN(20) == 0 {
						s.sent = s.sent.Add(20 * time.Second)
						lates[job] = append(lates[job], next)
					}
					for _, r := range all {
						r.waits = append(r.waits, s)
					}
				}
			}
		}
		for _, step := range steps {
			step()
		}
		for _, r := range all {
			r.send(t, time.Now())
		}
	}
	time.Sleep(40 * time.Second) // the rules follow
	t.Logf("| | cells | missing | wrong | by, median and most | wrong without late samples | history of a new rule |")
	for _, r := range all {
		cells, recorded, unexplained, history := 0, 0, 0, "none"
		var wrong []float64
		for i, one := range lateExprs {
			instant := func(expr string, at time.Time) []answered {
				all, err := ask(t, r.url, "query", url.Values{"query": {expr},
					"time": {fmt.Sprintf("%.3f", float64(at.UnixMilli())/1000)}})
				check(t, err)
				return all
			}
			for _, series := range instant(fmt.Sprintf("{__name__=\"rule:%d\"}[250s]", i), ended) {
				_, job, _ := strings.Cut(series.labels, "job=")
				first := ended
				for j, seconds := range series.times {
					at := time.UnixMilli(int64(math.Round(seconds * 1000)))
					if r == ours {
						at = at.Add(time.Millisecond) // where it lies
					}
					if at.Before(first) {
						first = at
					}
					if i == len(lateExprs)-1 || at.Before(began.Add(20*time.Second)) {
						continue
					}
					recorded++
					for _, w := range instant(one.expr, at) {
						_, other, _ := strings.Cut(w.labels, "job=")
						d := math.Abs(w.values[0]-series.values[j]) / max(1e-9, math.Abs(w.values[0]))
						if other != job || d <= 1e-9 {
							continue
						}
						wrong = append(wrong, d)
						reads := func(sent time.Time) bool {
							return !sent.After(at) && sent.After(at.Add(-time.Duration(one.seconds+1)*time.Second))
						}
						if !slices.ContainsFunc(lates[strings.Trim(job, "\"}")], reads) {
							unexplained++
						}
					}
				}
				if i == len(lateExprs)-1 {
					history = fmt.Sprintf("%v before it", began.Add(205*time.Second).Sub(first).Round(time.Second))
				}
			}
		}
		cells = (len(lateExprs) - 1) * 2 * 190
		missing := max(0, cells-recorded)
		slices.Sort(wrong)
		shown := "–"
		if len(wrong) > 0 {
			shown = fmt.Sprintf("%.2g %%, %.2g %%", 100*wrong[len(wrong)/2], 100*wrong[len(wrong)-1])
		}
		t.Logf("| %s | %d | %d | %d | %s | %d | %s | refused: %d", r.name, cells, missing, len(wrong), shown,
			unexplained, history, r.refused)
		if r == ours && (missing > 4 || len(wrong) > 0) {
			t.Errorf("%d cells are missing, %d wrong", missing, len(wrong))
		}
	}
}

// phaseOf returns when within a second samples come longest before the rules of Prometheus are evaluated.
func phaseOf(t *testing.T, at string) (phase time.Duration) {
	t.Helper()
	eventually(t, func() string {
		answer, err := http.Get(at + "/api/v1/rules")
		if err != nil {
			return err.Error()
		}
		defer answer.Body.Close()
		var all struct {
			Data struct {
				Groups []struct{ LastEvaluation time.Time }
			}
		}
		check(t, json.NewDecoder(answer.Body).Decode(&all))
		last := all.Data.Groups[0].LastEvaluation
		phase = last.Add(200 * time.Millisecond).Sub(last.Add(200 * time.Millisecond).Truncate(time.Second))
		return map[bool]string{true: "Prometheus has not evaluated its rules yet"}[last.IsZero()]
	})
	return phase
}
