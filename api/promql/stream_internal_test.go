package promql

import (
	"compress/gzip"
	"errors"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"strconv"
	"testing"

	"github.com/prometheus/prometheus/model/labels"
	upstream "github.com/prometheus/prometheus/promql"

	"github.com/gnocco-db/gnocco/api/web"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

// matrixOf returns so many series with so many points.
func matrixOf(series, points int) upstream.Matrix {
	m := make(upstream.Matrix, series)
	for i := range m {
		m[i].Metric = labels.FromStrings("n", strconv.Itoa(i))
		for j := range points {
			m[i].Floats = append(m[i].Floats, upstream.FPoint{T: int64(j) * 1000, F: float64(i*j) / 4})
		}
	}
	return m
}

// A long answer is sent in pieces, packed or not, with the text and the notes of a short one. Its value is closed then.
func TestLongAnswersAreStreams(t *testing.T) {
	for _, points := range []int{1, 10_000} {
		for _, accepted := range []string{"", "gzip"} {
			closed, m := 0, matrixOf(50, points)
			a := &Answer{Warnings: []string{"w"}, result: &evaluated{value: m, stats: []byte("{}"),
				close: func() { closed++ }}}
			r := httptest.NewRequest("GET", "/", nil)
			r.Header.Set("Accept-Encoding", accepted)
			w := httptest.NewRecorder()
			web.Compress(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if err := a.Write(w, r); err != nil || closed != 1 {
					t.Error(err, closed)
				}
				if streamed := w.Header().Get("Content-Length") == ""; accepted == "" && streamed != (points > 1) {
					t.Errorf("%d points: a stream: %v", points, streamed)
				}
			})).ServeHTTP(w, r)
			var body io.Reader = w.Body
			if packed := w.Header().Get("Content-Encoding") == "gzip"; packed != (accepted != "") {
				t.Fatalf("%d points, %q accepted: packed is %v", points, accepted, packed)
			} else if packed {
				var err error
				if body, err = gzip.NewReader(body); err != nil {
					t.Fatal(err)
				}
			}
			got, err := io.ReadAll(body)
			whole := stream{body: []byte(answerBegins)}
			fatal.If(t, whole.appendResult(m))
			if want := string(whole.body[:len(whole.body)-1]) + `,"stats":{}},"warnings":["w"]}`; err != nil || string(got) != want {
				t.Errorf("%d points, %q accepted: %d bytes, not %d: %v", points, accepted, len(got), len(want), err)
			}
		}
	}
}

type brokenWriter struct{ *httptest.ResponseRecorder }

func (brokenWriter) Write([]byte) (int, error) { return 0, errors.New("broken") }

// An answer that cannot be sent whole is cut off, so that no client takes a part for all of it.
func TestPartsOfAnswersAreCutOff(t *testing.T) {
	closed := false
	defer func() {
		if recover() != http.ErrAbortHandler || !closed {
			t.Error("the answer ended as if it were whole")
		}
	}()
	a := &Answer{result: &evaluated{value: matrixOf(1, 10_000), close: func() { closed = true }}}
	_ = a.Write(brokenWriter{httptest.NewRecorder()}, httptest.NewRequest("GET", "/", nil))
}

// Whole numbers have the text of all others.
func TestNumbersAreShortest(t *testing.T) {
	for _, v := range []float64{0, math.Copysign(0, -1), 1, -1, 1e6, -123456789, 1<<53 - 1, 1 - 1<<53, 1 << 53, 1e15,
		1e16, 1e300, 0.1, -2.5, math.NaN(), math.Inf(-1), math.MaxInt64, math.MinInt64} {
		if got, want := string(appendNumber(nil, v)), strconv.Quote(strconv.FormatFloat(v, 'f', -1, 64)); got != want {
			t.Errorf("%v is %s, not %s", v, got, want)
		}
	}
}
