package cluster_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// history is what clients did to some metrics whose blocks are seconds, without a back window, and when. Each write is
// one measure, whose value is its own.
type history struct {
	metrics []string
	began   time.Time
	newest  atomic.Int64 // second that was sent last, of any metric

	mu     sync.Mutex
	writes map[string]map[int64][]write // by metric and second
	number int
}

// write is a measure that was sent, and answered with 202 or not.
type write struct {
	value          float64
	sent, answered time.Duration // since the history began
	acked          bool          // else it may have come to be there or not, at any time
}

func newHistory(metrics []string) *history {
	h := &history{metrics: metrics, began: time.Now(), writes: make(map[string]map[int64][]write)}
	for _, metric := range metrics {
		h.writes[metric] = make(map[int64][]write)
	}
	return h
}

// write sends a measure of any of the metrics: mostly of the next second, now and then of one that was sent before.
func (h *history) write(p *process, random *rand.Rand) {
	metric := h.metrics[random.IntN(len(h.metrics))]
	second := h.newest.Load()
	switch random.IntN(4) {
	case 0: // the newest again: one of them must be the last
		second = max(second, 1)
	case 1:
		second = max(second-1, 1)
	default:
		second = h.newest.Add(1)
	}
	h.mu.Lock()
	h.number++
	w := write{value: float64(h.number), answered: math.MaxInt64}
	h.mu.Unlock()
	w.sent = time.Since(h.began)
	status, _, _, err := p.do(http.MethodPost, "/v1/metric/"+metric+"/measures",
		fmt.Sprintf(`[{"timestamp": %d, "value": %v}]`, firstSecond+second, w.value))
	if err == nil && status == http.StatusAccepted {
		w.acked, w.answered = true, time.Since(h.began)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.writes[metric][second] = append(h.writes[metric][second], w)
}

// mayBeTooOld reports whether a later second of the metric was sent before the write was answered.
func (h *history) mayBeTooOld(metric string, second int64, w write) bool {
	for later, writes := range h.writes[metric] {
		for _, other := range writes {
			if later > second && other.sent < w.answered {
				return true
			}
		}
	}
	return false
}

// fault returns what is wrong with a second of a metric, whose value is found, "" for nothing. Clocks are apart from
// one another by no more than apart.
func (h *history) fault(metric string, second int64, found float64, there bool, apart time.Duration) string {
	writes := h.writes[metric][second]
	if !there {
		for _, w := range writes {
			if w.acked && !h.mayBeTooOld(metric, second, w) {
				return fmt.Sprintf("%+v is missing", w)
			}
		}
		return ""
	}
	for _, w := range writes {
		if w.value != found {
			continue
		}
		for _, later := range writes {
			if later.acked && later.sent > w.answered && later.sent-w.answered > apart &&
				!h.mayBeTooOld(metric, second, later) {
				return fmt.Sprintf("%+v is there, %+v was sent later", w, later)
			}
		}
		return ""
	}
	return fmt.Sprintf("%v was never sent", found)
}

// check reads all metrics.
func (h *history) check(t *testing.T, p *process, apart time.Duration) {
	t.Helper()
	seconds, acked := 0, 0
	for _, metric := range h.metrics {
		found := aggregates(t, p, metric, "sum")
		for second, writes := range h.writes[metric] {
			value, there := found[second]
			if fault := h.fault(metric, second, value, there, apart); fault != "" {
				t.Errorf("metric %s, second %d: %s", metric, second, fault)
			}
			delete(found, second)
			seconds++
			for _, w := range writes {
				if w.acked {
					acked++
				}
			}
		}
		if len(found) > 0 {
			t.Errorf("metric %s has what nobody sent: %v", metric, found)
		}
	}
	if acked == 0 {
		t.Error("no write was acknowledged")
	}
	t.Logf("history of %d acknowledged measures in %d seconds", acked, seconds)
}

// The checker finds what it is for.
func TestHistoryFindsFaults(t *testing.T) {
	h := newHistory([]string{"m"})
	at := func(sent, answered time.Duration, value float64) write {
		return write{value: value, sent: sent, answered: answered, acked: answered < math.MaxInt64}
	}
	h.writes["m"] = map[int64][]write{
		1: {at(0, 10, 1)},
		2: {at(11, 20, 2), at(30, 40, 3)},
		3: {at(35, 50, 4)},
		4: {at(60, math.MaxInt64, 5)},
	}
	f := func(second int64, value float64, there bool, apart time.Duration, ok bool) {
		t.Helper()
		if fault := h.fault("m", second, value, there, apart); (fault == "") != ok {
			t.Errorf("second %d with %v: %q", second, value, fault)
		}
	}
	f(1, 1, true, 0, true)
	f(1, 0, false, 0, false)
	f(1, 7, true, 0, false)
	f(2, 3, true, 0, true)
	f(2, 2, true, 0, true) // 3 may have been too old because of 4
	f(2, 0, false, 0, false)
	f(4, 0, false, 0, true)
	h.writes["m"][3] = nil
	f(2, 2, true, 0, false)
	f(2, 2, true, 10, true)
}
