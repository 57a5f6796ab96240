package promql

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	common "github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	upstream "github.com/prometheus/prometheus/promql"

	"github.com/gnocco-db/gnocco/model"
	evaluation "github.com/gnocco-db/gnocco/query/promql"
)

// federate serves GET /federate: the latest sample of each series with its time, as text that Prometheus scrapes.
func (a Handlers) federate(r *request) (*Answer, error) {
	all, err := a.selectSeries(r)
	if err != nil {
		return nil, err
	}
	now := a.Now()
	out := r.stream("text/plain; version=0.0.4; charset=utf-8; escaping=allow-utf-8")
	named := ""
	// The text form lacks native histograms.
	all = slices.DeleteFunc(all, func(one selected) bool { return one.labels.Has(model.LabelHistogram) })
	for i, one := range all {
		at, value := math.NaN(), 0.0
		for expr, into := range map[string]*float64{one.selector: &value, "timestamp(" + one.selector + ")": &at} {
			err := a.instant(r.Context(), r, &evaluation.Query{Expr: expr}, now, func(result *upstream.Result) error {
				vector, err := result.Vector()
				if len(vector) > 0 {
					*into = vector[0].F
				}
				return err
			})
			if err != nil {
				return nil, out.fault(err)
			}
		}
		if math.IsNaN(at) {
			continue
		}
		name := one.labels.Get(common.MetricNameLabel)
		if i == 0 || name != named {
			named = name
			out.body = fmt.Appendf(out.body, "# TYPE %s untyped\n", exposedName(name))
		}
		out.body = appendExposed(out.body, one.labels, value, int64(math.Round(at*1000)))
		if err := out.piece(); err != nil {
			return nil, err
		}
	}
	return &Answer{Sent: true}, out.end()
}

// exposedName returns the name of a metric or label as text for Prometheus has it.
func exposedName(name string) string {
	if common.LegacyValidation.IsValidLabelName(name) {
		return name
	}
	return quoted(name)
}

var exposedText = strings.NewReplacer(`\`, `\\`, "\n", `\n`, `"`, `\"`)

func quoted(text string) string { return `"` + exposedText.Replace(text) + `"` }

// appendExposed appends a sample as text for Prometheus has it.
func appendExposed(dst []byte, of labels.Labels, value float64, at int64) []byte {
	name, n := of.Get(common.MetricNameLabel), 0
	outside := common.LegacyValidation.IsValidMetricName(name)
	if outside {
		dst = append(dst, name...)
	}
	dst = append(dst, '{')
	if !outside {
		dst, n = append(dst, quoted(name)...), 1
	}
	of.Range(func(l labels.Label) {
		if l.Name != common.MetricNameLabel {
			dst = append(append(append(comma(dst, n), exposedName(l.Name)...), '='), quoted(l.Value)...)
			n++
		}
	})
	dst = append(dst, "} "...)
	switch {
	case math.IsInf(value, 1):
		dst = append(dst, "+Inf"...)
	default:
		dst = strconv.AppendFloat(dst, value, 'g', -1, 64)
	}
	return append(strconv.AppendInt(append(dst, ' '), at, 10), '\n')
}
