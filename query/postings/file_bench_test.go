package postings

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

// BenchmarkFile reads the file of a catalog of pushed series, as a start does.
func BenchmarkFile(b *testing.B) {
	const series = 1_000_000
	s := newState(1)
	policy := &model.ArchivePolicy{Name: "prometheus"}
	for i := range series {
		var text []byte
		for _, label := range [][2]string{{"__name__", fmt.Sprint("m_", i%100)},
			{"instance", fmt.Sprintf("host-%d:9100", i/100)}, {"job", "node"},
			{"pod", fmt.Sprintf("pod-%04x", i%10_000)}, {"zone", fmt.Sprint("z", i/100%7)}} {
			text = model.AppendLabel(text, []byte(label[0]), []byte(label[1]))
		}
		s.addMetric(&model.Metric{ID: uuid.New(), Labels: model.Labels(text), ArchivePolicy: policy, Creator: "me"})
	}
	var file bytes.Buffer
	fatal.If(b, s.snapshot().write(&file, 1))
	b.SetBytes(int64(file.Len()))
	b.ReportMetric(float64(file.Len())/series, "B/series")
	for b.Loop() {
		read, err := readState(bytes.NewReader(file.Bytes()), int64(file.Len()),
			func(uint64) (uint64, bool) { return 1, true })
		fatal.If(b, err)
		if len(read.metrics) != series {
			b.Fatalf("%d metrics", len(read.metrics))
		}
	}
}
