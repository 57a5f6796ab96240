package promql

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/prometheus/prometheus/model/labels"
	upstream "github.com/prometheus/prometheus/promql"

	"github.com/gnocco-db/gnocco/api/web"
	evaluation "github.com/gnocco-db/gnocco/query/promql"
)

// stream is an answer that is sent while it is made. A short one goes out whole, with its length.
type stream struct {
	w       http.ResponseWriter // nil: the body stays here
	kind    string
	release func() // of the turn; nil: it is over
	body    []byte // not yet sent
	begun   bool   // a part was sent
}

// streamedBytes is from which size on a part of an answer is sent.
const streamedBytes = 64 << 10

// stream returns an answer of a kind.
func (r *request) stream(kind string) *stream {
	return &stream{w: r.w, kind: kind, release: r.release}
}

// piece sends what was made so far, if that is enough.
func (s *stream) piece() error {
	if len(s.body) < streamedBytes || s.w == nil {
		return nil
	}
	s.endTurn()
	if !s.begun {
		s.begun = true
		begin(s.w, s.kind)
		s.w.WriteHeader(http.StatusOK)
	}
	_, err := s.w.Write(s.body)
	s.body = s.body[:0]
	return s.fault(err)
}

// endTurn ends the turn: a client that reads slowly keeps nobody waiting.
func (s *stream) endTurn() {
	if s.release != nil {
		s.release()
	}
}

// end sends the rest.
func (s *stream) end() error {
	s.endTurn()
	if !s.begun {
		begin(s.w, s.kind)
		web.WriteBody(s.w, http.StatusOK, s.body)
		return nil
	}
	_, err := s.w.Write(s.body)
	return s.fault(err)
}

// fault returns err, or cuts the answer off where a part of it is sent.
func (s *stream) fault(err error) error {
	if err != nil && s.begun {
		panic(http.ErrAbortHandler)
	}
	return err
}

// selected is a series that a request selects, and the selector of it alone.
type selected struct {
	labels   labels.Labels
	selector string
}

// selectSeries returns the series that match[] selects, by labels. A series keeps the matchers that say how to read it.
func (a Handlers) selectSeries(r *request) ([]selected, error) {
	lists := a.neededMatchers(r)
	raw, err := a.Engine.Parser().ParseMetricSelectors(r.Form["match[]"])
	if err != nil {
		r.refuse(invalid("match[]", err))
	}
	if r.fault != nil {
		return nil, r.fault
	}
	var all []selected
	seen := make(map[uuid.UUID]bool)
	for i, list := range lists {
		found, err := a.Series.Select(r.Context(), r.sees, list...)
		if err != nil {
			return nil, err
		}
		var own strings.Builder
		for _, m := range raw[i] {
			own.WriteString(m.String() + ",")
		}
		for _, one := range found {
			if !seen[one.Metric.ID] {
				seen[one.Metric.ID] = true
				all = append(all, selected{one.Labels, fmt.Sprintf("{%smetric_id=%q}", own.String(), one.Metric.ID)})
			}
		}
	}
	slices.SortFunc(all, func(a, b selected) int { return labels.Compare(a.labels, b.labels) })
	return all, nil
}

// instant evaluates an expression at one time, and calls use with its result, whose memory is the engine's.
func (a Handlers) instant(ctx context.Context, r *request, q *evaluation.Query, at time.Time,
	use func(*upstream.Result) error) error {
	q.Sees, q.Staleness = r.sees, web.StalenessOf(ctx)
	prepared, err := a.Engine.Instant(ctx, q, at)
	if err != nil {
		return err
	}
	defer prepared.Close()
	result := prepared.Exec(ctx)
	if result.Err != nil {
		return result.Err
	}
	return use(result)
}

// export serves GET and POST /api/v1/export: all samples of series, an object a line, as VictoriaMetrics exports them.
// The time of several measures of a ms repeats.
func (a Handlers) export(r *request) (*Answer, error) {
	start, end := r.Time("start", time.Unix(0, 0)), r.Time("end", a.Now())
	if start.Unix() < 0 {
		start = time.Unix(0, 0)
	}
	length := end.Sub(start).Milliseconds() + 2 // a range does not include its beginning, and one of its end alone
	if length <= 1 {
		r.refuse(invalid("end", errEndsEarly))
	}
	all, err := a.selectSeries(r)
	if err != nil {
		return nil, err
	}
	out := r.stream("application/x-ndjson")
	for _, one := range all {
		q := &evaluation.Query{Expr: fmt.Sprintf("%s[%dms]", one.selector, length), Repeats: true}
		err := a.instant(r.Context(), r, q, end.Add(time.Millisecond),
			func(result *upstream.Result) error {
				matrix, err := result.Matrix()
				for _, s := range matrix {
					n := sort.Search(len(s.Floats), func(i int) bool { return s.Floats[i].T > end.UnixMilli() })
					out.body = appendExported(out.body, s.Metric, s.Floats[:n])
				}
				return err
			})
		if err == nil {
			err = out.piece()
		}
		if err != nil {
			return nil, out.fault(err)
		}
	}
	return &Answer{Sent: true}, out.end()
}

// appendExported appends the line of a series. NaN is a word, as null is the end of a series for VictoriaMetrics.
func appendExported(dst []byte, of labels.Labels, points []upstream.FPoint) []byte {
	if len(points) == 0 {
		return dst
	}
	dst = append(dst, `{"metric":{`...)
	n := 0
	of.Range(func(l labels.Label) {
		dst = appendText(append(appendText(comma(dst, n), l.Name), ':'), l.Value)
		n++
	})
	dst = append(dst, `},"values":[`...)
	for i, p := range points {
		dst = comma(dst, i)
		switch v := p.F; {
		case math.IsNaN(v):
			dst = append(dst, `"NaN"`...)
		case math.IsInf(v, 1):
			dst = append(dst, `"Infinity"`...)
		case math.IsInf(v, -1):
			dst = append(dst, `"-Infinity"`...)
		default:
			dst = strconv.AppendFloat(dst, v, 'g', -1, 64)
		}
	}
	dst = append(dst, `],"timestamps":[`...)
	for i, p := range points {
		dst = strconv.AppendInt(comma(dst, i), p.T, 10)
	}
	return append(dst, "]}\n"...)
}
