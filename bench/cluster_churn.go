package bench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/bench/report"
	"github.com/gnocco-db/gnocco/internal/pause"
	"github.com/gnocco-db/gnocco/model"
)

// ChurnOptions are those of the part churn.
type ChurnOptions struct {
	APIs    int           // 0: 2
	Metricd int           // 0: 16
	Sacks   int           // 0: 256
	Rate    int           // measures a second; 0: 200,000
	Length  time.Duration // 0: 8 minutes
	Every   time.Duration // between two changes; 0: 20 s
}

// EnsureDefaults fills in what was left zero.
func (o *ChurnOptions) EnsureDefaults() {
	if o.APIs == 0 {
		o.APIs = 2
	}
	if o.Metricd == 0 {
		o.Metricd = 16
	}
	if o.Sacks == 0 {
		o.Sacks = 256
	}
	if o.Rate == 0 {
		o.Rate = 200_000
	}
	if o.Length == 0 {
		o.Length = 8 * time.Minute
	}
	if o.Every == 0 {
		o.Every = 20 * time.Second
	}
}

const (
	churnBodyMetrics = 100                    // in a request
	churnConnections = 16                     // to each API, of senders
	churnPause       = 250 * time.Millisecond // of the reader of a sack
)

// churn is a cluster under a steady load whose metricd leave and join.
type churn struct {
	*processes
	what    ChurnOptions
	apis    []*member
	ids     []string
	clients []*client // of senders and readers, by API
	seconds int       // of load, that senders have taken up

	late, sent    atomic.Int64 // requests that began more than a second late; measures answered with 202
	refused       atomic.Int64 // requests for writing that were repeated
	reads, failed atomic.Int64
	less          atomic.Int64 // reads that showed less than the one before

	mu       sync.Mutex
	longest  time.Duration // between two answers for one sack, without the pause
	took     []time.Duration
	failures map[string]int
}

// clusterChurn sends measures at a steady rate through all APIs and reads a metric of each sack, while every now and
// then a metricd leaves in order or another one joins. In the end every metric must have each of its measures, once.
func (o *Options) clusterChurn(ctx context.Context, all ClusterOptions) (err error) {
	what := all.Churn
	what.EnsureDefaults()
	c := &churn{what: what, failures: make(map[string]int)}
	c.processes, err = o.startProcesses(ctx, "api", "--sacks", strconv.Itoa(what.Sacks))
	if err != nil {
		return err
	}
	defer func() {
		for _, api := range c.apis {
			api.kill()
		}
		c.close()
	}()
	c.apis = []*member{c.api}
	for len(c.apis) < what.APIs {
		api, err := c.start(ctx, "api", "/healthcheck")
		if err != nil {
			return err
		}
		c.apis = append(c.apis, api)
	}
	for range what.Metricd {
		if err := c.join(ctx); err != nil {
			return err
		}
	}
	for _, api := range c.apis {
		client := newClient(o, api.url, churnConnections+what.Sacks)
		defer client.close()
		c.clients = append(c.clients, client)
	}
	if c.ids, err = c.clients[0].createMetrics(ctx, all.Metrics/churnBodyMetrics*churnBodyMetrics); err != nil {
		return err
	}
	if err := c.warmUp(ctx); err != nil {
		return err
	}
	return c.measure(ctx)
}

func (c *churn) join(ctx context.Context) error {
	m, err := c.start(ctx, "metricd", "/metrics")
	if err == nil {
		c.metricd = append(c.metricd, m)
	}
	return err
}

// warmUp sends the first second's measures and waits until all sacks answer.
func (c *churn) warmUp(ctx context.Context) error {
	for part := range len(c.ids) / churnBodyMetrics {
		if err := c.deliver(ctx, 0, part, time.Now()); err != nil {
			return err
		}
	}
	c.seconds = 1
	return c.verify(ctx)
}

func (c *churn) all() []*member { return append(append([]*member(nil), c.apis...), c.metricd...) }

func (c *churn) usage() (sum usage, err error) {
	var pids []int
	for _, m := range c.all() {
		pids = append(pids, m.cmd.Process.Pid)
	}
	return processUsage(pids)
}

// measure is the time that counts.
func (c *churn) measure(ctx context.Context) error {
	c.refused.Store(0)
	c.late.Store(0)
	before := c.sent.Load()
	used, err := c.usage()
	if err != nil {
		return err
	}
	loaded, stop := context.WithCancel(ctx)
	defer stop()
	var readers, senders sync.WaitGroup
	for sack, id := range c.oneOfEachSack() {
		if id != "" {
			readers.Go(func() { c.read(loaded, sack, id) })
		}
	}
	seconds := int(c.what.Length / time.Second)
	began := time.Now()
	sendErr := make(chan error, 1)
	senders.Go(func() { sendErr <- c.load(ctx, began, seconds) })
	ended, changes, err := c.change(ctx, began)
	senders.Wait()
	took := time.Since(began)
	stop()
	readers.Wait()
	if err = errors.Join(err, <-sendErr); err != nil {
		return err
	}
	c.seconds += seconds
	sent := c.sent.Load() - before
	drained := time.Now()
	if err := c.verify(ctx); err != nil {
		return err
	}
	after, err := c.usage()
	if err != nil {
		return err
	}
	for failure, n := range c.failures {
		if err := c.options.Report.Note("%d times: %s", n, failure); err != nil {
			return err
		}
	}
	name := fmt.Sprintf("Cluster/churn/apis=%d/metricd=%d/sacks=%d/metrics=%d/rate=%d", c.what.APIs, c.what.Metricd,
		c.what.Sacks, len(c.ids), c.what.Rate)
	return c.options.Report.Add(name, int(sent),
		report.Of(float64(took.Nanoseconds())/float64(sent), "ns/op"),
		report.Of(float64(sent)/took.Seconds(), "measures/s"), report.Of(float64(changes), "changes"),
		report.Of(float64(c.reads.Load()), "reads"), report.Of(float64(c.failed.Load()), "reads-failed"),
		report.Of(float64(c.less.Load()), "reads-less-than-before"),
		report.Of(c.longest.Seconds(), "s-longest-gap"),
		report.Of(report.Milliseconds(report.Quantile(c.took, 0.5)), "ms-read-p50"),
		report.Of(report.Milliseconds(report.Quantile(c.took, 0.99)), "ms-read-p99"),
		report.Of(float64(c.refused.Load()), "writes-repeated"), report.Of(float64(c.late.Load()), "writes-late"),
		report.Of(time.Since(drained).Seconds(), "s-until-all-verified"),
		report.Of((after.cpu+ended.cpu-used.cpu).Seconds()/float64(sent)*1e6, "cpu-s/Mmeasure"),
		report.Of(float64(after.rss)/float64(len(c.all()))/(1<<20), "MiB-rss/process"))
}

// change has the oldest metricd leave, and another one join, by turns, and returns what those that left have used.
func (c *churn) change(ctx context.Context, began time.Time) (ended usage, changes int, err error) {
	for at := c.what.Every; at < c.what.Length; at += c.what.Every {
		if err := pause.For(ctx, time.Until(began.Add(at))); err != nil {
			return ended, changes, err
		}
		what := "joined"
		if changes++; changes%2 == 0 {
			err = c.join(ctx)
		} else {
			what = "left"
			oldest := c.metricd[0]
			c.forget(oldest)
			var u usage
			u, err = oldest.stop()
			ended.cpu += u.cpu
		}
		if err != nil {
			return ended, changes, err
		}
		c.mu.Lock()
		c.options.Logger.Info(what, "at", at, "took", (time.Since(began) - at).Round(time.Millisecond), "sent", c.sent.Load(),
			"reads", c.reads.Load(), "failed", c.failed.Load(), "gap", c.longest, "refused", c.refused.Load(), "late",
			c.late.Load())
		c.mu.Unlock()
	}
	return ended, changes, pause.For(ctx, time.Until(began.Add(c.what.Length)))
}

// load sends measures for some seconds, evenly.
func (c *churn) load(ctx context.Context, began time.Time, seconds int) error {
	parts := len(c.ids) / churnBodyMetrics
	var next atomic.Int64
	var senders sync.WaitGroup
	var mu sync.Mutex
	var failed error
	for range churnConnections * len(c.apis) {
		senders.Go(func() {
			for {
				i := int(next.Add(1) - 1)
				if i >= parts*seconds {
					return
				}
				due := began.Add(time.Duration(i) * time.Second / time.Duration(parts))
				err := pause.For(ctx, time.Until(due))
				if err == nil {
					err = c.deliver(ctx, 1+i/parts, i%parts, due)
				}
				if err != nil {
					mu.Lock()
					failed = errors.Join(failed, err)
					mu.Unlock()
					return
				}
			}
		})
	}
	senders.Wait()
	return failed
}

// perSecond is how many measures a metric gets each second.
func (c *churn) perSecond() int { return max(1, c.what.Rate/len(c.ids)) }

// deliver sends one second of some metrics until it is acknowledged.
func (c *churn) deliver(ctx context.Context, second, part int, due time.Time) error {
	if time.Since(due) > time.Second {
		c.late.Add(1)
	}
	n := c.perSecond()
	body := []byte("{")
	for m, id := range c.ids[part*churnBodyMetrics : (part+1)*churnBodyMetrics] {
		if m > 0 {
			body = append(body, ',')
		}
		body = append(append(append(body, '"'), id...), `":[`...)
		for i := range n {
			if i > 0 {
				body = append(body, ',')
			}
			at := firstMeasure.Add(time.Duration(second)*time.Second + time.Duration(i)*time.Second/time.Duration(n))
			body = at.AppendFormat(append(body, `{"timestamp":"`...), timestampFormat)
			body = append(strconv.AppendInt(append(body, `","value":`...), int64(1+(m+second*n+i)%1000), 10), '}')
		}
		body = append(body, ']')
	}
	body = append(body, '}')
	client := c.clients[(second+part)%len(c.clients)]
	for end := time.Now().Add(visibleWait); ; {
		err := client.sendOne(ctx, body)
		if err == nil {
			c.sent.Add(int64(churnBodyMetrics * n))
			return nil
		}
		if ctx.Err() != nil || time.Now().After(end) {
			return err
		}
		c.refused.Add(1)
		c.note("write", err)
		if err := pause.For(ctx, 100*time.Millisecond); err != nil {
			return err
		}
	}
}

func (c *churn) note(what string, err error) {
	text := err.Error()
	var status *statusError
	if errors.As(err, &status) {
		text = fmt.Sprintf("%d %s", status.status, status.body)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.failures[what+": "+text[:min(len(text), 200)]]++
}

func (c *churn) oneOfEachSack() []string {
	ids := make([]string, c.what.Sacks)
	for _, id := range c.ids {
		if parsed, err := uuid.Parse(id); err == nil {
			ids[model.Sack(parsed, c.what.Sacks)] = id
		}
	}
	return ids
}

// read reads a metric over and over, at one API after the other, and counts answers that show less than earlier ones.
func (c *churn) read(ctx context.Context, sack int, id string) {
	path, shown := measuresPath(id, "count", time.Minute, time.Time{}), 0.0
	answered := time.Now()
	for i := sack; ctx.Err() == nil; i++ {
		sent := time.Now()
		request, cancel := context.WithTimeout(ctx, 10*time.Second)
		rows, err := c.clients[i%len(c.clients)].measures(request, path)
		cancel()
		if ctx.Err() != nil {
			return
		}
		now := time.Now()
		c.reads.Add(1)
		if err != nil {
			c.failed.Add(1)
			c.note("read", err)
		} else {
			count := 0.0
			for _, r := range rows {
				count += r.value
			}
			if count < shown {
				c.less.Add(1)
			}
			shown = max(shown, count)
			c.mu.Lock()
			c.took = append(c.took, now.Sub(sent))
			c.longest = max(c.longest, now.Sub(answered))
			c.mu.Unlock()
		}
		_ = pause.For(ctx, churnPause)
		if err == nil {
			answered = time.Now()
		}
	}
}

// verify waits until all is processed, and requires of every metric that it shows each measure once.
func (c *churn) verify(ctx context.Context) error {
	for {
		left, err := c.clients[0].backlog(ctx)
		if err != nil {
			return err
		}
		if left == 0 {
			break
		}
		if err := pause.For(ctx, 100*time.Millisecond); err != nil {
			return err
		}
	}
	wanted := float64(c.seconds * c.perSecond())
	return c.clients[0].spread(ctx, len(c.ids), func(ctx context.Context, i int, _ *bytes.Buffer) error {
		path := measuresPath(c.ids[i], "count", 24*time.Hour, time.Time{}) + "&refresh=true"
		rows, err := c.clients[i%len(c.clients)].measures(ctx, path)
		if err != nil {
			return err
		}
		if len(rows) != 1 || rows[0].value != wanted {
			return fmt.Errorf("metric %s has %v, want %v measures", c.ids[i], rows, wanted)
		}
		return nil
	})
}
