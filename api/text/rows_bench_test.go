package text_test

import (
	"net/http/httptest"
	"testing"

	"github.com/gnocco-db/gnocco/api/text"
	"github.com/gnocco-db/gnocco/carbonara"
)

// A day of one metric, a row a minute.
func BenchmarkRows(b *testing.B) {
	times, values := make([]carbonara.Timestamp, 1440), make([]float64, 1440)
	for i := range times {
		times[i], values[i] = carbonara.Timestamp(1.7e18+i*60e9), float64(i*7919%1000)/8
	}
	body := make([]byte, 0, 1<<20)
	to := httptest.NewRecorder()
	for b.Loop() {
		to.Body.Reset()
		w := text.NewWriter(to, body)
		w.StartRows()
		w.Label([]byte("60.0"))
		w.Rows(times, values, nil)
		w.EndRows()
		body = w.Buffer()
	}
}
