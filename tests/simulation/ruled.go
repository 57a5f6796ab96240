package simulation

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// ruleFile records sums over series of all clients, and a rule reads the results of another one. The second is named,
// and stands, before the first.
const ruleFile = `groups:
- name: a
  interval: 1m
  rules:
  - {record: doubled, expr: "2 * sum by (n) (last_over_time(summed[1m]))"}
- name: b
  interval: 1m
  rules:
  - {record: summed, expr: "sum by (n) (sum_over_time(ruled[1m]))"}
`

const (
	ruledSeries = 2        // of each client; n of the expressions
	ruledBefore = 2 * 3600 // seconds before the beginning, since when they have measures
	ruleStep    = 60       // seconds
)

// ruled is a series that a rule reads, and its measures once all is acknowledged.
type ruled struct {
	labels   string
	measures map[int64]float64
	doubtful bool // a request was repeated: one before may still come, and nothing is taken out
	frozen   bool // such a request takes measures out
	pending  func() *answer
}

// useRuled writes measures that rules read, or takes some out. A request without an answer is repeated first.
func (c *client) useRuled() {
	n := c.rand.IntN(ruledSeries)
	for len(c.ruled) <= n {
		c.ruled = append(c.ruled, &ruled{labels: fmt.Sprintf("by=%s,n=%d", c.name, len(c.ruled)),
			measures: make(map[int64]float64)})
	}
	s := c.ruled[n]
	if s.pending != nil {
		s.finish()
		return
	}
	if s.frozen {
		return
	}
	began, now := c.w.began.Unix()-ruledBefore, time.Now().Unix()
	at := now - c.rand.Int64N(30)
	if c.rand.IntN(4) == 0 {
		at = began + c.rand.Int64N(now-began)
	}
	if c.rand.IntN(8) == 0 && !s.doubtful {
		c.takeOutRuled(s, at, at+c.rand.Int64N(600))
		return
	}
	var sent []sentMeasure
	for i := range 1 + c.rand.Int64N(3) {
		one := sentMeasure{at - 7*i, float64(1 + c.rand.IntN(1000))}
		if one.Timestamp%10 == 0 { // not at the end of a group, which does not have it
			one.Timestamp++
		}
		sent = append(sent, one)
	}
	slices.Reverse(sent)
	for _, one := range sent {
		s.measures[one.Timestamp] = one.Value
	}
	s.pending = func() *answer { return c.pushRemote("__name__=ruled,"+s.labels, sent) }
	s.finish()
}

func (c *client) takeOutRuled(s *ruled, from, to int64) {
	for at := range s.measures {
		if at >= from && at <= to {
			delete(s.measures, at)
		}
	}
	query := url.Values{"match[]": {fmt.Sprintf("ruled{%s}", quoted(s.labels))}, "start": {fmt.Sprint(from)},
		"end": {fmt.Sprint(to)}}
	s.pending = func() *answer {
		return c.ask(c.api(), http.MethodPost, "/api/v1/admin/tsdb/delete_series?"+query.Encode(), nil)
	}
	if s.finish(); s.pending != nil {
		s.frozen = true
	}
}

// quoted returns labels as a selector has them.
func quoted(labels string) string {
	var all []string
	for label := range strings.SplitSeq(labels, ",") {
		name, value, _ := strings.Cut(label, "=")
		all = append(all, name+"="+strconv.Quote(value))
	}
	return strings.Join(all, ",")
}

// finish sends what is pending.
func (s *ruled) finish() {
	if s.pending().ok() {
		s.pending = nil
	} else {
		s.doubtful = true
	}
}

// settleRules compares the recorded cells with their expressions over all measures.
func (w *World) settleRules(limit time.Duration) {
	began, fault := time.Now(), ""
	for ; time.Since(began) < limit; time.Sleep(2 * time.Second) {
		if fault = w.faultOfRules(); fault == "" {
			return
		}
	}
	w.breach("rules, %v after the last fault: %s", limit, fault)
}

// faultOfRules returns what is wrong with the recorded cells; "": nothing.
func (w *World) faultOfRules() string {
	sums := make(map[string]map[int64]float64) // by n and the time of the cell
	for _, c := range w.clients {
		for n, s := range c.ruled {
			if s.pending != nil {
				if s.finish(); s.pending != nil {
					return c.name + " waits for an acknowledgement"
				}
			}
			key := fmt.Sprint(n)
			if sums[key] == nil {
				sums[key] = make(map[int64]float64)
			}
			for at, value := range s.measures {
				sums[key][at/ruleStep*ruleStep+ruleStep] += value
			}
		}
	}
	from := w.began.Unix()/ruleStep*ruleStep - ruledBefore - ruleStep
	to := time.Now().Unix()/ruleStep*ruleStep - 2*ruleStep
	for _, of := range []struct {
		expr  string
		value func(sum float64) float64
	}{
		{"last_over_time(summed[1m])", func(sum float64) float64 { return sum }},
		{"last_over_time(doubled[1m])", func(sum float64) float64 { return 2 * sum }},
		{"count_over_time(summed[1m])", func(float64) float64 { return 1 }},
		{"count_over_time(doubled[1m])", func(float64) float64 { return 1 }},
	} {
		got, err := w.clients[0].ranged(of.expr, from, to)
		if err != nil {
			return err.Error()
		}
		for n, cells := range sums {
			for at, sum := range cells {
				if value, there := got[n][at]; at >= from && at <= to && (!there || value != of.value(sum)) {
					return fmt.Sprintf("%s of %s at %d is %v (%t), not %v", of.expr, n, at, value, there, of.value(sum))
				}
			}
		}
		for n, cells := range got {
			for at, value := range cells {
				if _, there := sums[n][at]; !there {
					return fmt.Sprintf("%s of %s at %d is %v, and there are no measures", of.expr, n, at, value)
				}
			}
		}
	}
	return ""
}

// ranged returns the values of a query each minute, by the label n and the time.
func (c *client) ranged(expr string, from, to int64) (map[string]map[int64]float64, error) {
	query := url.Values{"query": {expr}, "start": {fmt.Sprint(from)}, "end": {fmt.Sprint(to)},
		"step": {fmt.Sprint(ruleStep)}}
	a := c.ask(c.api(), http.MethodGet, "/api/v1/query_range?"+query.Encode(), nil)
	var answer struct {
		Data struct {
			Result []struct {
				Metric map[string]string
				Values [][2]any
			}
		}
	}
	if err := json.Unmarshal(a.body, &answer); err != nil || !a.ok() {
		return nil, fmt.Errorf("%s: %d %s (%w)", expr, a.status, a.body, err)
	}
	found := make(map[string]map[int64]float64)
	for _, series := range answer.Data.Result {
		values := make(map[int64]float64)
		for _, v := range series.Values {
			at, _ := v[0].(float64)
			value, err := strconv.ParseFloat(fmt.Sprint(v[1]), 64)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", expr, err)
			}
			values[int64(at)] = value
		}
		found[series.Metric["n"]] = values
	}
	return found, nil
}
