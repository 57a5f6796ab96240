package csv_test

import (
	"bytes"
	stdcsv "encoding/csv"
	"fmt"
	"io"
	"testing"

	"github.com/gnocco-db/gnocco/cmd/gnocco-import/csv"
)

func BenchmarkReader(b *testing.B) {
	var file bytes.Buffer
	const rows = 10_000
	for i := range rows {
		fmt.Fprintf(&file, "2014-02-14 14:%02d:%02d,%d.132\n", i/60%60, i%60, i)
	}
	read := func(b *testing.B, next func(io.Reader) func() (int, error)) {
		b.SetBytes(int64(file.Len()))
		b.ReportAllocs()
		for b.Loop() {
			records := 0
			read := next(bytes.NewReader(file.Bytes()))
			for {
				n, err := read()
				if err == io.EOF {
					break
				}
				if err != nil || n != 2 {
					b.Fatal(n, err)
				}
				records++
			}
			if records != rows {
				b.Fatal(records)
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/rows, "ns/record")
	}
	b.Run("reader=ours", func(b *testing.B) {
		read(b, func(source io.Reader) func() (int, error) {
			r := csv.NewReader(source, ',')
			return func() (int, error) { fields, _, err := r.Read(); return len(fields), err }
		})
	})
	b.Run("reader=encoding-csv", func(b *testing.B) {
		read(b, func(source io.Reader) func() (int, error) {
			r := stdcsv.NewReader(source)
			r.ReuseRecord = true
			return func() (int, error) { fields, err := r.Read(); return len(fields), err }
		})
	})
}
