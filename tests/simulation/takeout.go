package simulation

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
)

// takeOut deletes the measures of some blocks of a metric, which never come back. If the answer is lost, the metric is
// not used any more.
func (c *client) takeOut(i int) {
	m := c.metrics[i]
	coarse := m.policy.granularities[len(m.policy.granularities)-1]
	stop := m.newest / coarse * coarse
	start := stop - coarse*(1+c.rand.Int64N(4))
	if m.label != "" {
		return
	}
	a := c.ask(c.api(), http.MethodPost, "/v1/measures/delete",
		map[string]any{"metrics": []string{m.id}, "start": start, "stop": stop, "reason": "simulation"})
	if !a.ok() {
		c.metrics = slices.Delete(c.metrics, i, i+1)
		if a.status != 0 && a.status < 500 {
			c.w.breach("%s: deletion from %s: %d %s", c.name, m.id, a.status, a.body)
		}
		return
	}
	for at, known := range m.measures {
		if at < start || at >= stop {
			continue
		}
		if len(known.doubts) == 0 {
			delete(m.measures, at)
			continue
		}
		*known = measure{doubts: known.doubts}
	}
	for granularity, groups := range m.counts {
		for group := range groups {
			if group >= start/granularity*granularity && group < stop {
				delete(groups, group)
			}
		}
	}
}

// ofSketch is how far a percentile by a sketch may lie from a measure.
const ofSketch = 0.02

// readSketch reads percentiles of wider groups, which sketches answer: each lies between a minimum and a maximum.
func (c *client) readSketch(m *metric) {
	if m.label != "" {
		return
	}
	of := m.policy.granularities
	narrow, wide := of[len(of)-2], of[len(of)-1]
	path := fmt.Sprintf("/v1/metric/%s/measures?aggregation=95pct&granularity=%d&resample=%d", m.id, narrow, wide)
	a := c.ask(c.api(), http.MethodGet, path, nil)
	if a.status == 0 || a.status >= 500 {
		return
	}
	var rows [][3]any
	if err := json.Unmarshal(a.body, &rows); err != nil || !a.ok() {
		c.w.breach("%s: %s: %d %s (%v)", c.name, path, a.status, a.body, err)
		return
	}
	groups, err := groupsOf(rows)
	if err != nil {
		c.w.breach("%s: %s: %v", c.name, path, err)
	}
	sent := m.groups(wide, false)
	for start, value := range groups {
		if b := sent[start]; b == nil || value < b.lowMin*(1-ofSketch) || value > b.highMax*(1+ofSketch) {
			c.w.breach("%s: %s: %v at %d, of %+v", c.name, path, value, start, b)
		}
	}
}
