package simulation

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"net/http"
	"slices"
	"sync"
)

// sharedMetric is one that all clients write. Each timestamp has one writer, and is written once.
type sharedMetric struct {
	id    string
	begin int64

	mu    sync.Mutex
	sent  map[int64]float64 // also by requests that have no answer yet
	acked map[int64]float64
}

// sharedPolicy has back windows that no writer leaves.
var sharedPolicy = &policy{name: "shared", granularities: []int64{60, 300}, backWindow: 2000}

// aggregatesOf are the aggregates of groups by method.
func aggregatesOf(measures map[int64]float64, granularity int64) map[string]map[int64]float64 {
	of := map[string]map[int64]float64{"count": {}, "sum": {}, "min": {}, "max": {}}
	for at, value := range measures {
		start := at / granularity * granularity
		if of["count"][start]++; of["count"][start] == 1 {
			of["min"][start], of["max"][start] = value, value
		}
		of["sum"][start] += value
		of["min"][start], of["max"][start] = min(of["min"][start], value), max(of["max"][start], value)
	}
	return of
}

// useShared writes a shared metric, or reads it at once.
func (c *client) useShared() {
	m := c.w.shared[c.rand.IntN(len(c.w.shared))]
	if c.rand.IntN(2) == 0 {
		c.compareShared(m)
		return
	}
	measures := make(map[int64]float64)
	var all []sentMeasure
	for range 1 + c.rand.IntN(5) {
		c.turn++
		late := int64(c.rand.IntN(3)) * 70 * int64(len(c.w.clients)) // beside what others write
		at := m.begin + (int64(c.turn)+late)*int64(len(c.w.clients)) + int64(slices.Index(c.w.clients, c))
		if _, known := c.written[at]; known {
			continue
		}
		c.written[at] = struct{}{}
		measures[at] = float64(1 + c.rand.IntN(1000))
		all = append(all, sentMeasure{at, measures[at]})
	}
	if len(all) == 0 {
		return
	}
	m.mu.Lock()
	maps.Copy(m.sent, measures)
	m.mu.Unlock()
	a := c.ask(c.api(), http.MethodPost, "/v1/metric/"+m.id+"/measures", all)
	if a.status != 0 && !a.ok() && a.status < 500 {
		c.w.breach("%s: measures of %s: %d %s", c.name, m.id, a.status, a.body)
	}
	if a.ok() {
		m.mu.Lock()
		defer m.mu.Unlock()
		maps.Copy(m.acked, measures)
	}
}

// compareShared reads a shared metric after a refresh, and reports whether it got an answer. All measures that were
// acknowledged before count, and no others than those that were sent.
func (c *client) compareShared(m *sharedMetric) bool {
	granularity := sharedPolicy.granularities[c.rand.IntN(len(sharedPolicy.granularities))]
	for _, method := range []string{"count", "sum", "min", "max"} {
		m.mu.Lock()
		least := aggregatesOf(m.acked, granularity)
		m.mu.Unlock()
		from := c.api()
		path := fmt.Sprintf("/v1/metric/%s/measures?refresh=true&aggregation=%s&granularity=%d", m.id, method, granularity)
		a := c.ask(from, http.MethodGet, path, nil)
		if a.status != http.StatusOK {
			return false
		}
		m.mu.Lock()
		most := aggregatesOf(m.sent, granularity)
		m.mu.Unlock()
		var rows [][3]any
		err := json.Unmarshal(a.body, &rows)
		groups, wrong := map[int64]float64(nil), error(nil)
		if err == nil {
			groups, wrong = groupsOf(rows)
		}
		if err != nil || wrong != nil {
			c.w.breach("%s: %s: %v, %v", c.name, path, err, wrong)
			return false
		}
		for _, fault := range outside(groups, least[method], most[method], method == "min") {
			c.w.breach("%s: %s from %s: %s", c.name, path, from.name, fault)
		}
	}
	return true
}

// outside names groups that show less than those of least, or more than those of most. Of minima, more measures make
// less.
func outside(got, least, most map[int64]float64, minima bool) (faults []string) {
	for start, value := range got {
		low, known := least[start]
		high, sent := most[start]
		switch {
		case !sent:
			faults = append(faults, fmt.Sprintf("a group at %d is %v, and nothing was sent", start, value))
			continue
		case minima && known:
			low, high = high, low
		case minima:
			low, high = high, math.MaxFloat64
		}
		if value < low || value > high {
			faults = append(faults, fmt.Sprintf("the group at %d is %v, not %v to %v", start, value, low, high))
		}
	}
	for start, low := range least {
		if _, shown := got[start]; !shown {
			faults = append(faults, fmt.Sprintf("the group at %d, of %v at least, is not there", start, low))
		}
	}
	slices.Sort(faults)
	return faults
}
