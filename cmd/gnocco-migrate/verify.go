package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/internal/counted"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/storage/archive"
)

// verification compares two servers by their REST API.
type verification struct {
	from, to *restSource
	workers  int
	sample   int // metrics whose values are compared; 0: all
	progress io.Writer

	begun, ended time.Time
	definitions  []comparison
	metrics      int // whose values were compared

	mu      sync.Mutex
	methods map[string]*comparison
	expired int // values of the source that are older than the newest group's timespan
	told    time.Time
}

// comparison counts what is the same on both sides.
type comparison struct {
	what                    string
	from, to, same, differs int
	worst                   float64 // relative
	examples                []string
}

const (
	maxExamples = 5
	// tolerance is relative, and for std only: all else is the same to the last bit.
	tolerance = 1e-12
	// verifySeed makes a sample the same for the same metrics.
	verifySeed = 52
)

func (c *comparison) differ(example string) {
	c.differs++
	if len(c.examples) < maxExamples {
		c.examples = append(c.examples, example)
	}
}

// add adds another comparison's numbers.
func (c *comparison) add(other *comparison) {
	c.from += other.from
	c.to += other.to
	c.same += other.same
	c.differs += other.differs
	c.worst = max(c.worst, other.worst)
}

func (v *verification) run(ctx context.Context) error {
	v.begun, v.told = time.Now(), time.Now()
	v.methods = make(map[string]*comparison)
	from, err := v.from.definitions(ctx)
	if err != nil {
		return fmt.Errorf("from: %w", err)
	}
	to, err := v.to.definitions(ctx)
	if err != nil {
		return fmt.Errorf("to: %w", err)
	}
	v.definitions = compareDefinitions(from, to)
	metrics := slices.Clone(from.metrics)
	if v.sample > 0 && v.sample < len(metrics) {
		r := rand.New(rand.NewPCG(verifySeed, 0))
		r.Shuffle(len(metrics), func(i, j int) { metrics[i], metrics[j] = metrics[j], metrics[i] })
		metrics = metrics[:v.sample]
	}
	v.metrics = len(metrics)
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(v.workers)
	for i, m := range metrics {
		if ctx.Err() != nil {
			break
		}
		group.Go(func() error { return v.metric(ctx, m, i) })
	}
	v.ended = time.Now()
	err = group.Wait()
	v.ended = time.Now()
	return err
}

// metric compares the values of all methods of a metric.
func (v *verification) metric(ctx context.Context, m *model.Metric, i int) error {
	methods := m.ArchivePolicy.Methods()
	read := func(source *restSource) (all []map[time.Duration]*series, err error) {
		for _, method := range methods {
			one, err := source.measures(ctx, m.ID, method, 0)
			if err != nil && !errors.Is(err, errGone) {
				return nil, err
			}
			all = append(all, one)
		}
		return all, nil
	}
	from, err := read(v.from)
	if err != nil {
		return err
	}
	to, err := read(v.to)
	if err != nil {
		return err
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	oldest := oldestKept(m, to)
	for k, method := range methods {
		v.compare(m, method, from[k], to[k], oldest)
	}
	if now := time.Now(); now.Sub(v.told) >= progressEvery {
		v.told = now
		fmt.Fprintf(v.progress, "compared the values of about %d of %s\n", i+1, counted.Of(v.metrics, "metric"))
	}
	return nil
}

// oldestKept returns the oldest groups that a copy keeps, by granularity. The newest group of any method decides, which
// may have no std.
func oldestKept(m *model.Metric, methods []map[time.Duration]*series) map[time.Duration]carbonara.Timestamp {
	oldest := make(map[time.Duration]carbonara.Timestamp)
	for _, all := range methods {
		for g, s := range all {
			if n, span := len(s.timestamps), m.ArchivePolicy.Timespan(g); n > 0 && span > 0 {
				oldest[g] = max(oldest[g], archive.OldestKept(s.timestamps[n-1], span))
			}
		}
	}
	return oldest
}

// compare counts the values of a method that both have. v.mu is held.
func (v *verification) compare(m *model.Metric, method carbonara.Method, from, to map[time.Duration]*series,
	oldest map[time.Duration]carbonara.Timestamp) {
	what := method.String()
	if method.Percentile() > 0 {
		what = "percentiles"
		if method.IsRate() {
			what = "rate: percentiles"
		}
	}
	c := v.methods[what]
	if c == nil {
		c = &comparison{what: what}
		v.methods[what] = c
	}
	for _, g := range m.ArchivePolicy.Granularities() {
		a, b := from[g], to[g]
		if a == nil {
			a = new(series)
		}
		if b == nil {
			b = new(series)
		}
		name := func(t carbonara.Timestamp) string {
			return fmt.Sprintf("%s %s %v %s", m.ID, method, g, t.Time().Format(time.RFC3339Nano))
		}
		j := 0
		for i, t := range a.timestamps {
			for j < len(b.timestamps) && b.timestamps[j] < t {
				c.to++
				c.differ(name(b.timestamps[j]) + ": only in the copy")
				j++
			}
			if j == len(b.timestamps) || b.timestamps[j] != t {
				if t < oldest[g] { // carbonara's rule 12: a method there keeps its own timespan
					v.expired++
					continue
				}
				c.from++
				c.differ(name(t) + ": only at the source")
				continue
			}
			c.from, c.to = c.from+1, c.to+1
			off := distance(a.values[i], b.values[j])
			c.worst = max(c.worst, off)
			if off == 0 || method.Base() == carbonara.Std && off <= tolerance {
				c.same++
			} else {
				c.differ(fmt.Sprintf("%s: %v at the source, %v in the copy", name(t), a.values[i], b.values[j]))
			}
			j++
		}
		for ; j < len(b.timestamps); j++ {
			c.to++
			c.differ(name(b.timestamps[j]) + ": only in the copy")
		}
	}
}

// distance returns how far two values are apart, relative to the larger one; 0 if they are equal or both NaN.
func distance(a, b float64) float64 {
	if a == b || a != a && b != b {
		return 0
	}
	d := math.Abs(a-b) / max(math.Abs(a), math.Abs(b))
	if d != d {
		return math.Inf(1)
	}
	return d
}

func compareDefinitions(from, to *definitions) []comparison {
	text := func(v any) string {
		content, err := json.Marshal(v)
		if err != nil {
			return err.Error()
		}
		return string(content)
	}
	state := func(r *model.Resource) string {
		shown := *r
		shown.Revision = 0
		return text(shown)
	}
	var all []comparison
	policies := func(d *definitions) map[string]string {
		m := make(map[string]string)
		for _, p := range d.policies {
			m[p.Name] = text(p)
		}
		return m
	}
	rules := func(d *definitions) map[string]string {
		m := make(map[string]string)
		for _, r := range d.rules {
			m[r.Name] = text(r)
		}
		return m
	}
	types := func(d *definitions) map[string]string {
		m := make(map[string]string)
		for _, k := range d.types {
			m[k.Name] = text(k)
		}
		return m
	}
	resources := func(d *definitions) map[string]string {
		m := make(map[string]string)
		for _, r := range d.resources {
			m[r.live.ID.String()] = state(r.live)
		}
		return m
	}
	past := func(d *definitions) map[string]string {
		m := make(map[string]string)
		for _, r := range d.resources {
			for _, p := range r.past {
				m[fmt.Sprintf("%s@%d", p.ID, p.RevisionStart)] = state(p)
			}
		}
		return m
	}
	metrics := func(d *definitions) map[string]string {
		m := make(map[string]string)
		for _, x := range d.metrics {
			m[x.ID.String()] = text([]any{x.Name, x.Unit, x.Creator, x.ResourceID, x.ArchivePolicy.Name})
		}
		return m
	}
	for _, kind := range []struct {
		what  string
		items func(*definitions) map[string]string
	}{
		{"archive policies", policies},
		{"rules", rules},
		{"resource types", types},
		{"resources", resources},
		{"past states", past},
		{"metrics", metrics},
	} {
		a, b := kind.items(from), kind.items(to)
		c := comparison{what: kind.what, from: len(a), to: len(b)}
		for _, key := range slices.Sorted(maps.Keys(a)) {
			switch other, ok := b[key]; {
			case !ok:
				c.differ(key + ": only at the source")
			case other != a[key]:
				c.differ(fmt.Sprintf("%s: %s at the source, %s in the copy", key, a[key], other))
			default:
				c.same++
			}
		}
		for _, key := range slices.Sorted(maps.Keys(b)) {
			if _, ok := a[key]; !ok {
				c.differ(key + ": only in the copy")
			}
		}
		all = append(all, c)
	}
	return all
}
