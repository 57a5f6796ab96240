package simulation

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"math/rand/v2"
	"net"
	"net/http"
	"strings"
	"time"
)

// client sends one request after the other, to any process of the API, and knows what came of each.
type client struct {
	w       *World
	name    string
	host    string
	http    *http.Client
	rand    *rand.Rand
	metrics []*metric
	deleted []*metric
	made    int // by remote write

	things     []*thing
	goneThings []string           // paths
	ruled      []*ruled           // by n
	numbers    int                // given to things
	turn       int                // of writes to shared metrics
	written    map[int64]struct{} // timestamps of shared metrics
}

const requestTimeout = 40 * time.Second

func newClient(w *World, number int) *client {
	c := &client{w: w, name: fmt.Sprintf("client-%d", number), host: fmt.Sprintf("10.0.1.%d", number+1),
		written: make(map[int64]struct{}),
		rand:    rand.New(rand.NewPCG(w.options.Seed, 100+uint64(number)))}
	c.http = &http.Client{Transport: &http.Transport{
		DialContext: func(ctx context.Context, _, address string) (net.Conn, error) {
			return w.network.dial(ctx, nil, c.host, address)
		},
		DisableCompression: true, IdleConnTimeout: time.Minute,
	}}
	return c
}

// answer is what came of a request; status 0: nothing.
type answer struct {
	status int
	body   []byte
	err    error
	by     *process // that ran when the request was sent; nil: none
	began  time.Time
	took   time.Duration
}

func (a *answer) ok() bool { return a.status >= 200 && a.status < 300 }

// ask sends a request to a process of the API.
func (c *client) ask(to *slot, method, path string, body any) *answer {
	return c.send(to, method, path, "application/json", body)
}

func (c *client) send(to *slot, method, path, kind string, body any) *answer {
	var content []byte
	switch body := body.(type) {
	case nil:
	case []byte:
		content = body
	default:
		content, _ = json.Marshal(body)
	}
	ctx, cancel := context.WithTimeout(context.Background(), requestTimeout)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, method, "http://"+to.listen+path, bytes.NewReader(content))
	if err != nil {
		panic(err)
	}
	r.Header.Set("Content-Type", kind)
	r.SetBasicAuth("admin", "")
	a := &answer{began: time.Now(), by: to.current()}
	response, err := c.http.Do(r)
	if err == nil {
		a.body, err = io.ReadAll(response.Body)
		response.Body.Close()
		a.status = response.StatusCode
	}
	if err != nil {
		a.err, a.status = err, 0
	}
	a.took = time.Since(a.began)
	c.w.log("asked", "client", c.name, "to", to.name, "method", method, "path", path, "status", a.status, "took", a.took,
		"error", a.err, "sent", string(content[:min(len(content), 300)]), "answer", string(a.body[:min(len(a.body), 300)]))
	c.w.note("%s %s %s %s %d %x", c.name, to.name, method, path, a.status, crc32.ChecksumIEEE(a.body))
	c.w.checkTime(to, a, method+" "+path)
	place, _, _ := strings.Cut(path, "?")
	c.w.checkAvailability(to, a, method+" "+place)
	return a
}

// api returns one of the processes of the API.
func (c *client) api() *slot {
	apis := c.w.apis()
	return apis[c.rand.IntN(len(apis))]
}

func (c *client) run(ctx context.Context) {
	for ctx.Err() == nil {
		time.Sleep(20*time.Millisecond + time.Duration(c.rand.Int64N(int64(c.w.options.Pause))))
		if w := c.w; !w.options.Plain && (w.shipped() || c.rand.IntN(3) == 0) {
			c.useMore()
			continue
		}
		switch dice := c.rand.IntN(100); {
		case len(c.metrics) == 0 || dice < 4 && len(c.metrics) < 12:
			c.create()
		case dice < 60:
			m := c.metrics[c.rand.IntN(len(c.metrics))]
			c.write(m)
			if c.rand.IntN(3) == 0 {
				c.read(m, true) // at once, perhaps at another process
			}
		case dice < 95:
			c.read(c.metrics[c.rand.IntN(len(c.metrics))], c.rand.IntN(2) == 0)
		case dice < 96:
			c.changePolicy()
		case dice < 98 && len(c.metrics) > 4:
			c.delete(c.rand.IntN(len(c.metrics)))
		}
	}
}

// useMore does what the first seeds did not: writers share metrics, resources change, measures are taken out.
func (c *client) useMore() {
	switch dice := c.rand.IntN(20); {
	case dice == 0 && len(c.metrics) > 0:
		c.takeOut(c.rand.IntN(len(c.metrics)))
	case dice < 8:
		c.useThings()
	case dice < 10 && len(c.metrics) > 0:
		c.readSketch(c.metrics[c.rand.IntN(len(c.metrics))])
	case dice < 14:
		c.useRuled()
	case len(c.w.shared) > 0: // otherwise a breach has told that they could not be made
		c.useShared()
	}
}

// untilOK repeats a request until it is answered well, any API will do.
func (c *client) untilOK(method, path string, body any, limit time.Duration) *answer {
	for began := time.Now(); ; {
		a := c.ask(c.api(), method, path, body)
		if a.ok() || time.Since(began) > limit {
			return a
		}
		time.Sleep(500 * time.Millisecond)
	}
}

// create makes a metric. One whose answer was lost is never used.
func (c *client) create() {
	begin := time.Now().Unix() - int64(c.rand.IntN(86400*30))
	if c.rand.IntN(4) == 0 {
		c.made++
		m := newMetric("", policies[0], begin-86400) // remote write refuses measures that are ahead
		m.label = fmt.Sprintf("%s-%d", c.name, c.made)
		c.metrics = append(c.metrics, m)
		return
	}
	policy := policies[c.rand.IntN(len(policies))]
	a := c.ask(c.api(), http.MethodPost, "/v1/metric",
		map[string]any{"archive_policy_name": policy.name, "name": "load"})
	if a.status != http.StatusCreated {
		return
	}
	var made struct{ ID string }
	if err := json.Unmarshal(a.body, &made); err != nil {
		c.w.breach("%s: answer of a new metric: %v", c.name, err)
		return
	}
	c.metrics = append(c.metrics, newMetric(made.ID, policy, begin))
}

func (c *client) delete(i int) {
	m := c.metrics[i]
	c.metrics = append(c.metrics[:i:i], c.metrics[i+1:]...)
	if m.label != "" {
		return // it is only forgotten
	}
	a := c.ask(c.api(), http.MethodDelete, "/v1/metric/"+m.id, nil)
	if a.status == http.StatusNotFound {
		c.w.breach("%s: metric %s is gone before it was deleted", c.name, m.id)
	}
	if a.status == http.StatusNoContent {
		c.deleted = append(c.deleted, m)
	}
}

// write sends measures of a metric, alone or in a batch.
func (c *client) write(m *metric) {
	sent := m.next(c.rand)
	var a *answer
	if m.label != "" {
		a = c.pushRemote("__name__=written,n="+m.label, sent)
		m.sent(c.w, sent, a)
		if a.status != 0 && !a.ok() && a.status < 500 {
			c.w.breach("%s: remote write of %s: %d %s", c.name, m.label, a.status, a.body)
		}
		return
	}
	if c.rand.IntN(2) == 0 {
		a = c.ask(c.api(), http.MethodPost, "/v1/metric/"+m.id+"/measures", sent)
	} else {
		a = c.ask(c.api(), http.MethodPost, "/v1/batch/metrics/measures", map[string]any{m.id: sent})
	}
	if a.status != 0 && a.status != http.StatusAccepted && a.status < 500 {
		c.w.breach("%s: measures of %s: %d %s", c.name, m.id, a.status, a.body)
	}
	m.sent(c.w, sent, a)
}

// read reads counts and sums of a metric, and checks them.
func (c *client) read(m *metric, refresh bool) bool {
	switch {
	case m.label != "" || c.rand.IntN(5) == 0:
		return c.queryPromQL(m, c.api())
	case c.rand.IntN(5) == 0:
		return c.aggregate(m, c.api())
	}
	granularity := m.policy.granularities[c.rand.IntN(len(m.policy.granularities))]
	return c.compare(m, granularity, refresh, c.api())
}

// compare reports whether it got an answer.
func (c *client) compare(m *metric, granularity int64, refresh bool, from *slot) bool {
	for _, aggregation := range c.w.aggregates() {
		path := fmt.Sprintf("/v1/metric/%s/measures?aggregation=%s&granularity=%d", m.id, aggregation, granularity)
		if refresh {
			path += "&refresh=true"
		}
		a := c.ask(from, http.MethodGet, path, nil)
		a = c.insist(from, path, a)
		if a.status == http.StatusNotFound {
			c.w.breach("%s: metric %s is gone", c.name, m.id)
		}
		if a.status != http.StatusOK {
			return false
		}
		var rows [][3]any
		err := json.Unmarshal(a.body, &rows)
		var groups map[int64]float64
		if err == nil {
			groups, err = groupsOf(rows)
		}
		if err != nil {
			c.w.breach("%s: %s: %v", c.name, path, err)
			return false
		}
		r := reading{aggregation, granularity, refresh, 0, math.MaxInt64, c.w.lastCrash(a.began)}
		c.judge(m, r, path, from, groups)
	}
	return true
}

// changePolicy gives the archives of a policy one method more, or less, in the background.
func (c *client) changePolicy() {
	methods := c.w.methods()
	if c.rand.IntN(2) == 0 {
		methods = append(methods, c.w.oneMore())
	}
	p := policies[c.rand.IntN(len(policies))]
	a := c.ask(c.api(), http.MethodPatch, "/v1/archive_policy/"+p.name+"?rebuild=true",
		map[string]any{"aggregation_methods": methods})
	if a.status != 0 && !a.ok() && a.status < 500 && a.status != http.StatusConflict {
		c.w.breach("%s: policy %s: %d %s", c.name, p.name, a.status, a.body)
	}
}
