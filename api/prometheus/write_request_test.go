package prometheus_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/gnocco-db/gnocco/api/prometheus"
	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

const limit = 1 << 20

func TestDecode(t *testing.T) {
	stale := math.Float64frombits(0x7ff0000000000002)
	body := compress(appendMessage(nil,
		series{labels: []string{"__name__", "up", "instance", "h:9", "job", "j"}, times: []int64{1000, 2001},
			values: []float64{1, math.NaN()}},
		series{labels: []string{"__name__", "gone"}, times: []int64{5}, values: []float64{stale}},
		series{labels: []string{"__name__", "none"}},
		series{labels: []string{"__name__", "down"}, times: []int64{0, 3, 4},
			values: []float64{-0.5, stale, math.Inf(1)}},
	))
	r := prometheus.WriteRequest{Latest: carbonara.MaxTimestamp}
	for range 2 { // the second time in used memory
		fatal.If(t, r.Decode(body, limit))
		timestamps, values := r.Columns()
		if got, want := fmt.Sprint(timestamps, values), "[1000000000 2001000000 0 4000000] [1 NaN -0.5 +Inf]"; got != want {
			t.Errorf("measures %s, want %s", got, want)
		}
		if from, to := r.Span(1); r.Len() != 2 || from != 2 || to != 4 {
			t.Errorf("%d series, the last one has measures %d to %d", r.Len(), from, to)
		}
	}
}

func TestDecodeRefuses(t *testing.T) {
	f := func(body []byte, reason string) {
		t.Helper()
		var r prometheus.WriteRequest
		if err := r.Decode(body, limit); err == nil || !strings.Contains(err.Error(), reason) {
			t.Errorf("%x: error %v, want %s", body, err, reason)
		}
	}
	f(nil, "snappy")
	f([]byte("hello"), "snappy")
	f(compress([]byte{0x0a}), "unexpected EOF")
	f(compress([]byte{0x0a, 5, 0}), "unexpected EOF")
	f(compress([]byte{0x0a, 3, 0x0a, 9, 0}), "unexpected EOF, in series 0")
	f(compress([]byte{0x0a, 4, 0x0a, 2, 0x0a, 7}), "unexpected EOF, in series 0")
	f(compress([]byte{0x0a, 4, 0x12, 2, 0x09, 7}), "unexpected EOF, in series 0")
	f(compress([]byte{0x0a, 4, 0x12, 2, 0x00, 7}), "invalid field number, in series 0")
	one := func(time int64) []byte {
		return compress(appendMessage(nil, series{labels: []string{"__name__", "a"}, times: []int64{time},
			values: []float64{1}}))
	}
	r := prometheus.WriteRequest{Latest: carbonara.MaxTimestamp}
	for _, wrong := range []int64{-1, math.MaxInt64, math.MaxInt64/1_000_000 + 1} {
		if err := r.Decode(one(wrong), limit); err != nil || r.Len() != 0 || r.Times.First != "a" {
			t.Errorf("timestamp %d: %d series, %q, %v", wrong, r.Len(), r.Times.First, err)
		}
	}
	err := r.Decode(one(math.MaxInt64/1_000_000), limit)
	last := []carbonara.Timestamp{math.MaxInt64 / 1_000_000 * 1_000_000}
	if times, _ := r.Columns(); err != nil || !slices.Equal(times, last) {
		t.Errorf("last timestamp: %v, %v", times, err)
	}
	// A few bytes that say they are a gigabyte.
	bomb := compress(make([]byte, limit+1))
	if err := r.Decode(bomb, limit); !errors.Is(err, prometheus.ErrTooLarge) {
		t.Errorf("bomb: %v", err)
	}
}

// A message of a million measures asks for memory before it is decoded, by its size, and then while it is decoded. A
// refusal ends the work at once.
func TestRefusedMemoryEndsDecoding(t *testing.T) {
	const measures = 1_000_000
	plain := appendMessage(nil, series{labels: []string{"__name__", "a"}, times: make([]int64, measures),
		values: make([]float64, measures)})
	body := compress(plain)
	refused := errors.New("refused")
	for _, c := range []struct {
		limit             int64
		memory            int // that is there
		want              error
		leastMem, mostMem int
		leastDec, mostDec int // measures that were decoded
	}{
		{int64(len(plain)) - 1, math.MaxInt, prometheus.ErrTooLarge, 0, 0, 0, 0},
		{int64(len(plain)), len(plain) - 1, refused, 0, 0, 0, 0},
		{int64(len(plain)), len(plain), refused, len(plain), 2 * len(plain), 1, 10_000},
		{int64(len(plain)), len(plain) + 10<<20, refused, len(plain), 2 * len(plain), 90_000, 120_000},
		{int64(len(plain)), math.MaxInt, nil, len(plain), math.MaxInt, measures, measures},
	} {
		left := c.memory
		r := prometheus.WriteRequest{Latest: carbonara.MaxTimestamp}
		r.Acquire = func(bytes int) error {
			if left -= bytes; left < 0 {
				return refused
			}
			return nil
		}
		if err := r.Decode(body, c.limit); !errors.Is(err, c.want) {
			t.Errorf("limit %d, memory %d: error %v, want %v", c.limit, c.memory, err, c.want)
		}
		_, values := r.Columns()
		if n := len(values); n < c.leastDec || n > c.mostDec || r.Bytes() < c.leastMem || r.Bytes() > c.mostMem {
			t.Errorf("limit %d, memory %d: %d measures in %d bytes, want %d to %d in %d to %d", c.limit, c.memory, n,
				r.Bytes(), c.leastDec, c.mostDec, c.leastMem, c.mostMem)
		}
	}
}
