package disks_test

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// clientTime is how long clients wait for an answer.
const clientTime = 5 * time.Second

var client = &http.Client{Timeout: clientTime, Transport: &http.Transport{MaxIdleConnsPerHost: 16}}

// ask sends a request as admin.
func ask(method, url, body string) (status int, answer []byte, err error) {
	request, err := http.NewRequestWithContext(context.Background(), method, url, strings.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	request.SetBasicAuth("admin", "")
	request.Header.Set("Accept", "application/json")
	request.Header.Set("Content-Type", "application/json")
	response, err := client.Do(request)
	if err != nil {
		return 0, nil, err
	}
	defer response.Body.Close()
	answer, err = io.ReadAll(response.Body)
	return response.StatusCode, answer, err
}

const patience = 5 * time.Minute

// askPatiently is ask, and tries again for minutes while the cluster is busy: a 503 does not tell the stored measures.
func askPatiently(method, url, body string) (status int, answer []byte, err error) {
	for begun := time.Now(); ; wait(0.5) {
		status, answer, err = ask(method, url, body)
		if err == nil && status != http.StatusServiceUnavailable || time.Since(begun) > patience {
			return status, answer, err
		}
	}
}

// gap is the longest time without a success.
type gap struct {
	mu           sync.Mutex
	last         time.Time
	longest      time.Duration
	before       time.Duration // longest of earlier phases
	begun        time.Time     // of the longest
	tried, other int           // requests, those without success
}

func newGap() *gap { return &gap{last: time.Now()} }

func (g *gap) note(success bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.tried++
	if d := time.Since(g.last); d > g.longest {
		g.longest, g.begun = d, g.last
	}
	if success {
		g.last = time.Now()
	} else {
		g.other++
	}
}

// firstSecond is the time of the first measure.
const firstSecond = 1_700_000_000

// writer posts measures of one metric after the other through one API, and remembers which were acknowledged.
type writer struct {
	metrics []string
	api     *process

	mu       sync.Mutex
	second   int            // the next
	acked    map[int]string // the metric, by second
	doubtful map[int]string // sent without an answer that decides
}

// load is what clients do, and what they were answered.
type load struct {
	t       *testing.T
	cluster *cluster
	begun   time.Time
	writers []*writer
	metrics []string

	writes, reads, creates []*gap          // by API
	sacks                  map[string]*gap // reads by metric, through any API

	mu      sync.Mutex
	created []string

	done   chan struct{}
	ending sync.Once
	all    sync.WaitGroup
}

const batch = 4

// newLoad makes metrics and starts clients: for each API two that write, one that reads each metric, and one that makes
// metrics.
func newLoad(c *cluster) *load {
	c.t.Helper()
	l := &load{t: c.t, cluster: c, sacks: make(map[string]*gap), done: make(chan struct{})}
	status, answer, err := askPatiently("POST", c.processes[0].url+"/v1/archive_policy", `{"name": "disks",
		"back_window": 100000, "definition": [{"granularity": 1}], "aggregation_methods": ["count", "sum"]}`)
	if status != http.StatusCreated && status != http.StatusConflict { // the second time
		c.t.Fatal(status, string(answer), err)
	}
	for _, api := range c.apis() {
		for range 2 {
			w := &writer{api: api, acked: make(map[int]string), doubtful: make(map[int]string)}
			for range 8 {
				id := l.create(c.processes[0])
				if id == "" {
					c.t.Fatal("no metric was made")
				}
				w.metrics = append(w.metrics, id)
				l.metrics = append(l.metrics, id)
			}
			l.writers = append(l.writers, w)
		}
	}
	l.begun = time.Now()
	for _, id := range l.metrics {
		l.sacks[id] = newGap()
	}
	loop := func(pause time.Duration, do func()) {
		l.all.Go(func() {
			for {
				select {
				case <-l.done:
					return
				case <-time.After(pause * time.Duration(c.files.slow)):
					do()
				}
			}
		})
	}
	for i, api := range c.apis() {
		writes, reads, creates := newGap(), newGap(), newGap()
		l.writes, l.reads, l.creates = append(l.writes, writes), append(l.reads, reads), append(l.creates, creates)
		for _, w := range l.writers[2*i : 2*i+2] {
			loop(50*time.Millisecond, func() { writes.note(w.post(l.t)) })
		}
		for _, id := range l.metrics { // through each API, as one that is cut off holds its readers up
			loop(800*time.Millisecond, func() {
				status, _, _ := ask("GET", fmt.Sprintf("%s/v1/metric/%s/measures?aggregation=sum&start=%d", api.url, id,
					firstSecond+1000*1000), "")
				reads.note(status == http.StatusOK)
				l.sacks[id].note(status == http.StatusOK)
			})
		}
		loop(200*time.Millisecond, func() { creates.note(l.create(api) != "") })
	}
	return l
}

// create makes a metric, and returns its ID, "" if that was not acknowledged.
func (l *load) create(api *process) string {
	status, answer, _ := ask("POST", api.url+"/v1/metric", `{"archive_policy_name": "disks"}`)
	var made struct{ ID string }
	if status != http.StatusCreated || json.Unmarshal(answer, &made) != nil {
		return ""
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.created = append(l.created, made.ID)
	return made.ID
}

// post sends measures of the next seconds, and reports whether they were acknowledged.
func (w *writer) post(t *testing.T) bool {
	first := w.second
	w.second += batch
	metric := w.metrics[first/batch%len(w.metrics)]
	var measures []string
	for i := first; i < w.second; i++ {
		measures = append(measures, fmt.Sprintf(`{"timestamp": %d, "value": %d}`, firstSecond+i, i))
	}
	status, answer, err := ask("POST", w.api.url+"/v1/metric/"+metric+"/measures", "["+strings.Join(measures, ",")+"]")
	if err == nil && status != http.StatusAccepted && status < 500 {
		t.Errorf("POST to %s: %d %s", w.api.name, status, answer)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for i := first; i < w.second; i++ {
		if status == http.StatusAccepted {
			w.acked[i] = metric
		} else {
			w.doubtful[i] = metric
		}
	}
	return status == http.StatusAccepted
}

// stop ends the clients.
func (l *load) stop() {
	l.ending.Do(func() { close(l.done) })
	l.all.Wait()
}

// acknowledged returns the number of measures that writers of an API had acknowledged.
func (l *load) acknowledged(api *process) (n int) {
	for _, w := range l.writers {
		if w.api == api {
			w.mu.Lock()
			n += len(w.acked)
			w.mu.Unlock()
		}
	}
	return n
}

// result is what a comparison found.
type result struct {
	acked, lost, twice, wrong int // measures
	metrics, gone, unread     int
}

// compare holds all that the cluster answers to the ledger.
func (l *load) compare() result {
	var r result
	api := l.cluster.apis()[1]
	for _, w := range l.writers {
		groups := make(map[int][2]float64) // count and sum, by second
		unread := make(map[string]bool)
		for _, metric := range w.metrics {
			for column, aggregation := range []string{"count", "sum"} {
				status, answer, err := askPatiently("GET", fmt.Sprintf(
					"%s/v1/metric/%s/measures?granularity=1&aggregation=%s", api.url, metric, aggregation), "")
				var rows [][3]any
				if status != http.StatusOK || json.Unmarshal(answer, &rows) != nil {
					l.t.Errorf("GET of metric %s: %d %.200s %v", metric, status, answer, err)
					unread[metric] = true
				}
				for _, row := range rows {
					at, err := time.Parse(time.RFC3339, row[0].(string))
					second := int(at.Unix() - firstSecond)
					if err != nil || cmp.Or(w.acked[second], w.doubtful[second]) != metric {
						r.wrong++
						continue
					}
					group := groups[second]
					group[column] = row[2].(float64)
					groups[second] = group
				}
			}
		}
		for second := range w.second {
			metric, acked := w.acked[second]
			group, there := groups[second]
			switch {
			case unread[cmp.Or(metric, w.doubtful[second])]: // no answer is no loss
			case acked && !there:
				r.lost++
			case group[0] > 1:
				r.twice++
			case there && group != [2]float64{1, float64(second)}:
				r.wrong++
			}
		}
		r.acked += len(w.acked)
		r.unread += len(unread)
	}
	for _, id := range l.created {
		if status, answer, err := askPatiently("GET", api.url+"/v1/metric/"+id, ""); status != http.StatusOK {
			l.t.Errorf("GET of metric %s: %d %.200s %v", id, status, answer, err)
			r.gone++
		}
	}
	r.metrics = len(l.created)
	return r
}

// report says how long clients went without success.
func (l *load) report() string {
	text := func(g *gap) string {
		g.mu.Lock()
		defer g.mu.Unlock()
		return fmt.Sprintf("%.1fs@%.0f(%d/%d)", max(g.longest, time.Since(g.last)).Seconds(), g.begun.Sub(l.begun).Seconds(),
			g.other, g.tried)
	}
	var out strings.Builder
	for i, api := range l.cluster.apis() {
		fmt.Fprintf(&out, "%s: writes %s reads %s creates %s; ", api.name, text(l.writes[i]), text(l.reads[i]),
			text(l.creates[i]))
	}
	worst := newGap()
	for _, g := range l.sacks {
		if g.longest > worst.longest {
			worst = g
		}
	}
	return out.String() + "a metric unread for " + text(worst)
}

// phase logs how long clients went without success so far, and measures reads of metrics anew.
func (l *load) phase(name string) {
	l.t.Logf("until %s: %s", name, l.report())
	for _, g := range l.sacks {
		g.mu.Lock()
		g.before, g.longest = max(g.before, g.longest), 0
		g.mu.Unlock()
	}
}

// settleWrites forgets how long APIs have acknowledged nothing so far.
func (l *load) settleWrites() {
	for _, g := range l.writes {
		g.mu.Lock()
		g.longest = 0
		g.mu.Unlock()
	}
}

// unserved returns the longest time for which an API without a fault acknowledged nothing, and for which any one metric
// was not read.
func (l *load) unserved(hit []int) (writes, metric time.Duration) {
	for i, api := range l.cluster.apis() {
		if !slices.Contains(hit, api.number) {
			writes = max(writes, l.writes[i].longest)
		}
	}
	for _, g := range l.sacks {
		metric = max(metric, g.longest, g.before)
	}
	return writes, metric
}
