package otlp

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/prometheus/otlptranslator"
	native "github.com/prometheus/prometheus/model/histogram"

	"github.com/gnocco-db/gnocco/api/series"
	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/model"
)

// translator makes series of a body's points. It is a visitor.
type translator struct {
	batch    *series.Batch
	names    map[string]string // of labels, by key of the attribute; "" for a key without a name
	metadata []series.Metadata
	pointOf  []int // of each row of the batch; -1 for target_info

	points    int // visited
	exemplars int
	refused   map[string]int // points, by reason
	first     string         // what is wrong with the first refused point

	resourceLabels series.Labels // job and instance
	info           series.Labels // of target_info
	infoAt         uint64        // of the newest point of the resource

	of     *metric
	name   string
	reason string // why the metric's points are refused; "" for none
	labels series.Labels
}

// reset prepares the translator for another body.
func (t *translator) reset() {
	batch := t.batch
	*t = translator{batch: batch, names: map[string]string{}, refused: map[string]int{}, pointOf: t.pointOf[:0]}
	batch.Reset()
}

// resource implements visitor. service.namespace and service.name are the job, service.instance.id is the instance.
func (t *translator) resource(attributes []attribute) error {
	if err := t.endResource(); err != nil {
		return err
	}
	t.resourceLabels, t.info, t.infoAt = nil, nil, 0
	job := ""
	var others []attribute
	for _, a := range attributes {
		switch a.key {
		case "service.name":
			job += a.value
		case "service.namespace":
			job = a.value + "/" + job
		case "service.instance.id":
			t.resourceLabels.Set("instance", a.value)
		default:
			others = append(others, a)
		}
	}
	t.resourceLabels.Set("job", job)
	if len(others) > 0 && len(t.resourceLabels) > 0 {
		t.setAttributes(&t.info, others)
		for _, name := range []string{"job", "instance"} {
			t.info.Set(name, t.resourceLabels.Get(name))
		}
		t.info.Set(model.LabelName, "target_info")
	}
	return nil
}

// endResource adds target_info at the time of the resource's newest point.
func (t *translator) endResource() error {
	if t.infoAt == 0 || len(t.info) == 0 {
		return nil
	}
	t.pointOf = append(t.pointOf, -1)
	return t.batch.Add(t.info, carbonara.Timestamp(t.infoAt), 1)
}

// setAttributes sets labels of attributes. Keys with one name as labels have their values joined, in order of the keys.
func (t *translator) setAttributes(labels *series.Labels, attributes []attribute) {
	slices.SortStableFunc(attributes, func(a, b attribute) int { return cmp.Compare(a.key, b.key) })
	last := ""
	for _, a := range attributes {
		name := t.labelName(a.key)
		if before := labels.Get(name); name == last && before != "" {
			labels.Set(name, before+";"+a.value)
		} else {
			labels.Set(name, a.value)
		}
		last = name
	}
}

func (t *translator) labelName(key string) string {
	name, ok := t.names[key]
	if !ok {
		name, _ = (&otlptranslator.LabelNamer{}).Build(key)
		t.names[key] = name
	}
	return name
}

// metric implements visitor.
func (t *translator) metric(m *metric) error {
	t.of, t.reason = m, ""
	kind, ofMetadata := otlptranslator.MetricType(otlptranslator.MetricTypeUnknown), "unknown"
	switch {
	case m.kind == gauge:
		kind, ofMetadata = otlptranslator.MetricTypeGauge, "gauge"
	case m.kind == summary:
		kind, ofMetadata = otlptranslator.MetricTypeSummary, "summary"
	case m.temporality != delta && m.temporality != cumulative:
		t.reason = "the metric has no aggregation temporality"
	case m.kind != sum && m.temporality == cumulative:
		kind, ofMetadata = otlptranslator.MetricTypeHistogram, "histogram"
	case m.temporality == cumulative && m.monotonic:
		kind, ofMetadata = otlptranslator.MetricTypeMonotonicCounter, "counter"
	case m.temporality == cumulative:
		kind, ofMetadata = otlptranslator.MetricTypeNonMonotonicCounter, "gauge"
	}
	namer := otlptranslator.NewMetricNamer("", otlptranslator.UnderscoreEscapingWithSuffixes)
	var err error
	if t.name, err = namer.Build(otlptranslator.Metric{Name: m.name, Unit: m.unit, Type: kind}); err != nil {
		t.reason = "the metric has no name"
	}
	if t.reason == "" {
		unit := (&otlptranslator.UnitNamer{}).Build(m.unit)
		t.metadata = append(t.metadata, series.Metadata{Name: strings.Clone(t.name), Kind: ofMetadata,
			Help: strings.Clone(m.description), Unit: strings.Clone(unit)})
	}
	return nil
}

var errTime = errors.New("the time of a point does not lie between 1970 and 2262")

// point implements visitor.
func (t *translator) point(p *point) error {
	t.points++
	t.exemplars += p.exemplars
	switch {
	case t.reason != "":
		t.refuse("unreadable", t.reason)
		return nil
	case p.flags&noValue != 0:
		return nil
	case p.at == 0 || p.at > math.MaxInt64:
		t.refuse("time", errTime.Error())
		return nil
	case t.of.kind == histogram && len(p.buckets) > 0 && len(p.buckets) != len(p.bounds)+1:
		t.refuse("unreadable", "a histogram has other than one bucket more than bounds")
		return nil
	}
	t.infoAt = max(t.infoAt, p.at)
	t.labels = t.labels[:0]
	t.setAttributes(&t.labels, p.attributes)
	t.labels.Set("job", cmp.Or(t.resourceLabels.Get("job"), t.labels.Get("job")))
	t.labels.Set("instance", cmp.Or(t.resourceLabels.Get("instance"), t.labels.Get("instance")))
	switch t.of.kind {
	case gauge, sum:
		if !p.hasValue {
			return nil
		}
		return t.add(p, "", p.value)
	case histogram:
		return t.histogram(p)
	case exponentialHistogram:
		return t.exponentialHistogram(p)
	}
	for _, q := range p.quantiles {
		t.labels.Set("quantile", formatBound(q.quantile))
		if err := t.add(p, "", q.value); err != nil {
			return err
		}
	}
	t.labels.Set("quantile", "")
	return t.totals(p)
}

// histogram adds the cumulative counts of the buckets.
func (t *translator) histogram(p *point) error {
	var count uint64
	for i, bound := range p.bounds {
		if len(p.buckets) == 0 {
			break
		}
		count += p.buckets[i]
		t.labels.Set("le", formatBound(bound))
		if err := t.add(p, "_bucket", float64(count)); err != nil {
			return err
		}
	}
	t.labels.Set("le", "+Inf")
	if err := t.add(p, "_bucket", float64(p.count)); err != nil {
		return err
	}
	t.labels.Set("le", "")
	return t.totals(p)
}

// defaultZeroThreshold is that of Prometheus where OTLP tells none.
const defaultZeroThreshold = 1e-128

// exponentialHistogram adds a native histogram. Its bucket i is bucket i-1 of an exponential one.
func (t *translator) exponentialHistogram(p *point) error {
	h := &native.FloatHistogram{Schema: p.scale, Count: float64(p.count), Sum: p.value,
		ZeroThreshold: max(p.zeroThreshold, defaultZeroThreshold), ZeroCount: float64(p.zeroCount)}
	if t.of.temporality == delta { // sum_over_time adds them up
		h.CounterResetHint = native.GaugeType
	}
	h.PositiveSpans, h.PositiveBuckets = p.positive.native()
	h.NegativeSpans, h.NegativeBuckets = p.negative.native()
	if p.scale > native.ExponentialSchemaMax && native.IsExponentialSchemaReserved(p.scale) {
		if err := h.ReduceResolution(native.ExponentialSchemaMax); err != nil {
			t.refuse("exponential_histogram", err.Error())
			return nil
		}
	}
	if err := h.Validate(); err != nil {
		t.refuse("exponential_histogram", err.Error())
		return nil
	}
	t.labels.Set(model.LabelName, t.name)
	err := t.batch.AddHistogram(&t.labels, carbonara.Timestamp(p.at), h)
	for len(t.pointOf) < t.batch.Len() {
		t.pointOf = append(t.pointOf, t.points)
	}
	return err
}

// native returns buckets as those of a native histogram.
func (b *exponentialBuckets) native() (spans []native.Span, counts []float64) {
	if len(b.counts) == 0 || b.offset == math.MaxInt32 {
		return nil, nil
	}
	for _, n := range b.counts {
		counts = append(counts, float64(n))
	}
	return []native.Span{{Offset: b.offset + 1, Length: uint32(len(counts))}}, counts
}

// totals adds count and sum. A histogram may lack its sum. A summary without one has the sum 0.
func (t *translator) totals(p *point) error {
	if err := t.add(p, "_count", float64(p.count)); err != nil || !p.hasValue && t.of.kind != summary {
		return err
	}
	return t.add(p, "_sum", p.value)
}

// add adds a measure of the series with a suffix.
func (t *translator) add(p *point, suffix string, value float64) error {
	t.labels.Set(model.LabelName, t.name+suffix)
	t.pointOf = append(t.pointOf, t.points)
	return t.batch.Add(t.labels, carbonara.Timestamp(p.at), value)
}

func (t *translator) refuse(reason, text string) {
	t.refused[reason]++
	if t.first == "" {
		t.first = fmt.Sprintf("%.200s: %s", t.of.name, text)
	}
}

// formatBound writes a bound as Prometheus' translation does.
func formatBound(bound float64) string { return strconv.FormatFloat(bound, 'f', -1, 64) }
