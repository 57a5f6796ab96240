package lineprotocol_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/gnocco-db/gnocco/api/influxdb/lineprotocol"
)

// BenchmarkDecode decodes lines as a collecting agent writes them, and makes the keys.
func BenchmarkDecode(b *testing.B) {
	const measures = 5000
	for _, fields := range []int{1, 10} {
		b.Run(fmt.Sprintf("fields=%d", fields), func(b *testing.B) {
			var body bytes.Buffer
			for i := range measures / fields {
				fmt.Fprintf(&body, "cpu,cpu=cpu%d,datacenter=north,host=machine-%d ", i%8, i/8)
				for field := range fields {
					fmt.Fprintf(&body, "%susage_%d=%v", ","[:min(field, 1)], field, float64(i*field)/7)
				}
				body.WriteString(" 1510581804179554816\n")
			}
			var l lineprotocol.Lines
			var key []byte
			refuse := func(_ int, reason string) { b.Fatal(reason) }
			b.ReportAllocs()
			b.SetBytes(int64(body.Len()))
			for b.Loop() {
				if err := l.Decode(body.Bytes(), nanoseconds(), now, refuse); err != nil || l.Len() != measures {
					b.Fatal(l.Len(), err)
				}
				for i := range l.Len() {
					key = l.AppendKey(key[:0], i)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/measures, "ns/measure")
		})
	}
}
