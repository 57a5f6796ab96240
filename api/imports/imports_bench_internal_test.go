package imports

import (
	"fmt"
	"strings"
	"testing"
)

// BenchmarkDecode decodes 1,000 measures a body.
func BenchmarkDecode(b *testing.B) {
	var text, lines, series strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&text, "node_cpu_seconds_total{cpu=\"%d\",instance=\"web-1:9100\",mode=\"idle\"} %d.25 1767268800000\n", i, i)
		fmt.Fprintf(&lines, `{"metric":{"__name__":"cpu","cpu":"%d","mode":"idle"},"values":[%d.25],"timestamps":[1767268800000]}`+"\n", i, i)
		if i%100 == 0 {
			numbers := strings.TrimSuffix(strings.Repeat("1.25,", 100), ",")
			times := strings.TrimSuffix(strings.Repeat("1767268800000,", 100), ",")
			fmt.Fprintf(&series, `{"metric":{"__name__":"cpu","cpu":"%d"},"values":[%s],"timestamps":[%s]}`+"\n", i, numbers, times)
		}
	}
	for _, c := range []struct {
		name, text string
		decode     func(*body) error
	}{{"text", text.String(), (*body).decodeText}, {"json", lines.String(), (*body).decodeJSON},
		{"json of series", series.String(), (*body).decodeJSON}} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			in := new(body)
			for b.Loop() {
				in.reset()
				in.text = append(in.text, c.text...)
				if err := c.decode(in); err != nil || len(in.lines) == 0 || in.refused.Unread > 0 {
					b.Fatal(err, in.refused.Text(in.total))
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1000, "ns/measure")
		})
	}
}
