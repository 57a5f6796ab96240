package promql

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/prometheus/model/histogram"
	"github.com/prometheus/prometheus/model/labels"
	upstream "github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"
)

// rows is the samples of a result as lines for clients that accept text/csv or application/x-ndjson.
type rows struct{ *stream }

func (o rows) isCSV() bool { return strings.HasPrefix(o.kind, "text/csv") }

// addAll adds the samples of a result.
func (o rows) addAll(value parser.Value) error {
	switch v := value.(type) {
	case upstream.Scalar:
		o.add(labels.EmptyLabels(), v.T, v.V)
	case upstream.Vector:
		for _, s := range v {
			if s.H != nil {
				o.addHistogram(s.Metric, s.T, s.H)
			} else {
				o.add(s.Metric, s.T, s.F)
			}
			if err := o.piece(); err != nil {
				return err
			}
		}
	case upstream.Matrix:
		for _, s := range v {
			for _, p := range s.Floats {
				o.add(s.Metric, p.T, p.F)
				if err := o.piece(); err != nil {
					return err
				}
			}
			for _, p := range s.Histograms {
				o.addHistogram(s.Metric, p.T, p.H)
				if err := o.piece(); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func (o rows) add(of labels.Labels, at int64, value float64) {
	if o.begin(of, at); o.isCSV() {
		o.body = append(strconv.AppendFloat(o.body, value, 'g', -1, 64), '\n')
		return
	}
	o.body = append(o.body, `"value":`...)
	if math.IsNaN(value) || math.IsInf(value, 0) {
		o.body = fmt.Appendf(o.body, `"%v"}`+"\n", value)
		return
	}
	o.body = append(strconv.AppendFloat(o.body, value, 'g', -1, 64), "}\n"...)
}

// begin appends what stands before the value of a row.
func (o rows) begin(of labels.Labels, at int64) {
	stamp := time.UnixMilli(at).UTC().Format("2006-01-02T15:04:05.999Z07:00")
	if o.isCSV() {
		o.body = fmt.Appendf(o.body, `"%s",%s,`, strings.ReplaceAll(of.String(), `"`, `""`), stamp)
		return
	}
	o.body = appendLabels(append(o.body, `{"metric":`...), of)
	o.body = fmt.Appendf(o.body, `,"timestamp":"%s",`, stamp)
}

// addHistogram adds a native histogram: in CSV as Prometheus writes it, else as an object.
func (o rows) addHistogram(of labels.Labels, at int64, h *histogram.FloatHistogram) {
	if o.begin(of, at); o.isCSV() {
		o.body = fmt.Appendf(o.body, `"%s"`+"\n", h)
		return
	}
	o.body = append(appendBuckets(append(o.body, `"histogram":`...), h), "}\n"...)
}
