package simulation

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// queryRange is how far back PromQL reads.
const queryRange = 2 * 3600

// selector is how PromQL names a metric.
func (m *metric) selector() string {
	if m.label != "" {
		return "written{n=" + strconv.Quote(m.label) + "}"
	}
	return "load{metric_id=" + strconv.Quote(m.id) + "}"
}

// queryPromQL reads the sums of a metric's newest groups by PromQL, where a group's time is its end.
func (c *client) queryPromQL(m *metric, from *slot) bool {
	granularity := int64(60)
	last := (m.newest/granularity + 1) * granularity
	first := last - queryRange
	selector := m.selector()
	expr := fmt.Sprintf(`%s,__aggregation__="sum",__granularity__="%d"}`, selector[:len(selector)-1], granularity)
	query := url.Values{"query": {expr}, "start": {fmt.Sprint(first)}, "end": {fmt.Sprint(last)},
		"step": {fmt.Sprint(granularity)}, "lookback_delta": {"1s"}}
	began := time.Now()
	a := c.ask(from, http.MethodGet, "/api/v1/query_range?"+query.Encode(), nil)
	if a.status != http.StatusOK {
		return false
	}
	var answer struct {
		Data struct {
			Result []struct{ Values [][2]any }
		}
	}
	if err := json.Unmarshal(a.body, &answer); err != nil || len(answer.Data.Result) > 1 {
		c.w.breach("%s: %s: %v, %d series", c.name, expr, err, len(answer.Data.Result))
		return false
	}
	groups := make(map[int64]float64)
	for _, series := range answer.Data.Result {
		for _, v := range series.Values {
			end, _ := v[0].(float64)
			value, err := strconv.ParseFloat(fmt.Sprint(v[1]), 64)
			if err != nil {
				c.w.breach("%s: %s: %v", c.name, expr, v)
				return false
			}
			groups[int64(end)-granularity] = value
		}
	}
	r := reading{aggregation: "sum", granularity: granularity, from: first, to: last, crash: c.w.lastCrash(began)}
	c.judge(m, r, expr, from, groups)
	m.shown = groups
	return true
}

// aggregate reads the sums of a metric as a dynamic aggregate.
func (c *client) aggregate(m *metric, from *slot) bool {
	r := reading{aggregation: "sum", granularity: 60, to: math.MaxInt64}
	began := time.Now()
	a := c.ask(from, http.MethodPost, "/v1/aggregates?granularity=60",
		map[string]any{"operations": []any{"aggregate", "sum", []any{"metric", []any{m.id, "sum"}}}})
	r.crash = c.w.lastCrash(began)
	if a.status != http.StatusOK {
		return false
	}
	var answer struct {
		Measures struct{ Aggregated [][3]any }
	}
	if err := json.Unmarshal(a.body, &answer); err != nil {
		c.w.breach("%s: aggregates: %v", c.name, err)
		return false
	}
	groups, err := groupsOf(answer.Measures.Aggregated)
	if err != nil {
		c.w.breach("%s: aggregates: %v", c.name, err)
		return false
	}
	c.judge(m, r, "aggregates of "+m.id, from, groups)
	return true
}

func (c *client) judge(m *metric, r reading, what string, from *slot, groups map[int64]float64) {
	for _, fault := range m.check(r, groups) {
		c.w.breach("%s: %s from %s: %s", c.name, what, from.name, fault)
	}
}

// groupsOf decodes rows of timestamp, granularity and value.
func groupsOf(rows [][3]any) (map[int64]float64, error) {
	groups := make(map[int64]float64, len(rows))
	for _, row := range rows {
		at, err := time.Parse(time.RFC3339, fmt.Sprint(row[0]))
		value, isNumber := row[2].(float64)
		if err != nil || !isNumber {
			return nil, fmt.Errorf("row %v", row)
		}
		groups[at.Unix()] = value
	}
	return groups, nil
}

// pushRemote sends measures of a series by Prometheus' remote write. Its labels are separated by commas.
func (c *client) pushRemote(labels string, sent []sentMeasure) *answer {
	var series []byte
	for label := range strings.SplitSeq(labels, ",") {
		name, value, _ := strings.Cut(label, "=")
		series = field(series, 1, field(field(nil, 1, []byte(name)), 2, []byte(value)))
	}
	for _, s := range sent {
		sample := binary.LittleEndian.AppendUint64([]byte{1<<3 | 1}, math.Float64bits(s.Value))
		sample = binary.AppendUvarint(append(sample, 2<<3), uint64(s.Timestamp*1000))
		series = field(series, 2, sample)
	}
	return c.send(c.api(), http.MethodPost, "/api/v1/write", "application/x-protobuf", snappy(field(nil, 1, series)))
}

// field appends a field of bytes of a protobuf message.
func field(dst []byte, number byte, content []byte) []byte {
	dst = binary.AppendUvarint(append(dst, number<<3|2), uint64(len(content)))
	return append(dst, content...)
}

// snappy wraps bytes in snappy's block format, as literals of 60 bytes.
func snappy(content []byte) []byte {
	out := binary.AppendUvarint(nil, uint64(len(content)))
	for len(content) > 0 {
		n := min(len(content), 60)
		out = append(append(out, byte(n-1)<<2), content[:n]...)
		content = content[n:]
	}
	return out
}
