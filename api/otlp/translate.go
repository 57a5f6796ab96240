package otlp

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"sort"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/prometheus/otlptranslator"
	native "github.com/prometheus/prometheus/model/histogram"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/ingest/exemplars"
	"github.com/gnocco-db/gnocco/ingest/series"
	"github.com/gnocco-db/gnocco/internal/keyhash"
	"github.com/gnocco-db/gnocco/model"
)

// translator makes series of a body's points. It is a visitor.
type translator struct {
	batch    *series.Batch
	names    map[string]string // of labels, by key of the attribute; "" for a key without a name
	metadata []series.Metadata
	pointOf  []int // of each measure of the batch; -1 for target_info

	points    int // visited
	messages  int // resources, scopes and metrics
	useless   int // points that are refused
	exemplars series.Exemplars
	latest    carbonara.Timestamp          // of exemplars
	refused   map[string]int               // points, by reason
	texts     []string                     // what is wrong with the first refused points
	notes     []string                     // what else is not as it was sent
	resources map[resourceKey]keyhash.Hash // fingerprints

	resourceKey resourceKey
	info        series.Labels // of target_info
	infoAt      uint64        // of the newest point of the resource
	fault       string        // of the resource's attributes; "" for none
	scopeFault  string
	scopeLabels series.Labels
	scopeHead   []byte // these, as a part of heads

	of     *metric
	name   string
	reason string                 // why the metric's points are refused; "" for none
	native *native.FloatHistogram // of a point
	common []byte                 // of the heads of a point's series
	head   []byte
	series keyhash.Hash // of a point's series
	known  bool         // common and series are those of the metric's last point
	open   bool         // the batch ends with a row of this series
	seen   keyhash.Points
}

// reset prepares the translator for another body.
func (t *translator) reset() {
	batch := t.batch
	t.seen.Reset()
	*t = translator{batch: batch, names: map[string]string{}, refused: map[string]int{}, pointOf: t.pointOf[:0],
		common: t.common[:0], head: t.head[:0], scopeHead: t.scopeHead[:0], seen: t.seen,
		resources: map[resourceKey]keyhash.Hash{}}
	batch.Reset()
	batch.Read = t.read
}

// resource implements visitor.
func (t *translator) resource(attributes []attribute) error {
	if err := errors.Join(t.message(), t.endResource()); err != nil {
		return err
	}
	t.info, t.infoAt = nil, 0
	t.fault = sortAttributes(attributes, " of the resource or scope")
	key := resourceKey{}
	key.job, key.instance = jobAndInstance(attributes)
	t.resourceKey = key
	is := fingerprint(attributes)
	if had, ok := t.resources[key]; ok && had != is {
		t.note(key.String())
	}
	t.resources[key] = is
	others := slices.DeleteFunc(attributes, func(a attribute) bool {
		return a.key == "service.name" || a.key == "service.namespace" || a.key == "service.instance.id"
	})
	if len(others) > 0 && (key != resourceKey{}) {
		t.setAttributes(&t.info, others)
		t.info.Set("job", key.job)
		t.info.Set("instance", key.instance)
		t.info.Set(model.LabelName, "target_info")
	}
	return nil
}

// sortAttributes sorts attributes by key. The fault names one without a key, or a key that stands there twice.
func sortAttributes(attributes []attribute, of string) (fault string) {
	slices.SortStableFunc(attributes, func(a, b attribute) int { return cmp.Compare(a.key, b.key) })
	for i, a := range attributes {
		switch {
		case a.key == "":
			return "an attribute" + of + " has no key"
		case i > 0 && a.key == attributes[i-1].key:
			return fmt.Sprintf("attribute %.100q%s stands there twice", a.key, of)
		}
	}
	return ""
}

// scope implements visitor. The labels are those of OpenTelemetry's rules for Prometheus: the scope's name, version and
// schema, and its attributes. An attribute of these three names gives way.
func (t *translator) scope(s *scope) error {
	var labels series.Labels
	t.scopeFault = sortAttributes(s.attributes, " of the resource or scope")
	attributes := slices.DeleteFunc(s.attributes, func(a attribute) bool {
		return a.key == "name" || a.key == "version" || a.key == "schema_url"
	})
	for i := range attributes {
		attributes[i].key = "otel_scope_" + attributes[i].key
	}
	t.setAttributes(&labels, attributes)
	labels.Set("otel_scope_name", s.name)
	labels.Set("otel_scope_version", s.version)
	labels.Set("otel_scope_schema_url", s.schemaURL)
	t.scopeLabels, t.scopeHead = labels, labels.Append(t.scopeHead[:0])
	return t.message()
}

// endResource adds target_info at the time of the resource's newest point.
func (t *translator) endResource() error {
	if t.infoAt == 0 || len(t.info) == 0 {
		return nil
	}
	t.pointOf = append(t.pointOf, -1)
	return t.batch.Add(t.info, carbonara.Timestamp(t.infoAt), 1)
}

// setAttributes sets labels of sorted attributes. Keys with one name as labels have their values joined.
func (t *translator) setAttributes(labels *series.Labels, attributes []attribute) {
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
		var err error
		if name, err = (&otlptranslator.LabelNamer{}).Build(key); err != nil || !utf8.ValidString(key) {
			name = key // it tells series from others, or refuses them
		}
		t.names[key] = name
	}
	return name
}

// errEmpty ends a body of many messages without points: 30 kB can unpack to millions of them.
var errEmpty = fmt.Errorf("more than %d metrics, scopes and resources have no points", mostEmpty)

const mostEmpty, mostUseless = 10_000, 1_000_000 // points are refused faster

// message counts a resource, scope or metric. Each of those that mean something has a point at its end.
func (t *translator) message() error {
	if t.messages++; t.messages > mostEmpty+3*t.points {
		return errEmpty
	}
	return nil
}

// metric implements visitor.
func (t *translator) metric(m *metric) error {
	t.of, t.reason, t.known = m, "", false
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
	t.reason = cmp.Or(t.scopeFault, t.fault, t.reason)
	if t.reason == "" {
		unit := (&otlptranslator.UnitNamer{}).Build(m.unit)
		t.metadata = append(t.metadata, series.Metadata{Name: strings.Clone(t.name), Kind: ofMetadata,
			Help: strings.Clone(m.description), Unit: strings.Clone(unit)})
	}
	return t.message()
}

var errTime = errors.New("the time of a point does not lie between 1970 and 2262")

// point implements visitor.
func (t *translator) point(p *point) error {
	t.points++
	t.known = t.known && p.same
	if t.reason == "" && p.flags&noValue != 0 {
		return nil
	}
	if reason, text := t.faultOf(p); text != "" {
		return t.refusePoint(reason, text)
	}
	t.infoAt = max(t.infoAt, p.at)
	for i := range p.exemplars {
		if err := t.exemplar(p, &p.exemplars[i]); err != nil {
			return err
		}
	}
	switch t.of.kind {
	case gauge, sum:
		near := p.at <= uint64(t.latest) // one beyond is refused alone
		if t.open && near {
			t.pointOf = append(t.pointOf, t.points)
			return t.batch.Extend(carbonara.Timestamp(p.at), p.value)
		}
		t.open = near
		return t.add(p, "", "", "", p.value)
	case histogram:
		return t.histogram(p)
	case exponentialHistogram:
		return t.exponentialHistogram(p)
	}
	for _, q := range p.quantiles {
		if err := t.add(p, "", "quantile", formatBound(q.quantile), q.value); err != nil {
			return err
		}
	}
	return t.totals(p)
}

// faultOf returns what is wrong with a point, "" for nothing, and sets what its series share.
func (t *translator) faultOf(p *point) (reason, text string) {
	switch {
	case t.reason != "":
		return "unreadable", t.reason
	case p.at == 0 || p.at > math.MaxInt64:
		return "time", errTime.Error()
	case t.of.kind == histogram && len(p.buckets) > 0 && len(p.buckets) != len(p.bounds)+1:
		return "unreadable", "a histogram has other than one bucket more than bounds"
	case !slices.IsSortedFunc(p.bounds, func(a, b float64) int { return cmp.Or(cmp.Compare(a, b), -1) }),
		slices.ContainsFunc(p.bounds, func(b float64) bool { return math.IsNaN(b) || math.IsInf(b, 1) }):
		return "unreadable", "the bounds of a histogram do not ascend"
	case (len(p.buckets) > 0 || t.of.kind == exponentialHistogram) && !p.addsUp():
		return "unreadable", "the counts of a histogram's buckets do not add up to its count"
	case (t.of.kind == gauge || t.of.kind == sum) && !p.hasValue:
		return "unreadable", "a point has no value"
	}
	if !t.known {
		if fault := sortAttributes(p.attributes, ""); fault != "" {
			return "labels", fault
		}
		t.setSeries(p)
	}
	if text := t.readHistogram(p); text != "" {
		return "exponential_histogram", text
	}
	if t.seen.Repeated(t.series, p.at) {
		return "duplicate", "a point of the same series and time stands before it"
	}
	return "", ""
}

// addsUp reports whether the counts of the buckets are the point's. Values that are NaN are in no bucket.
func (p *point) addsUp() bool {
	left := p.count
	for _, counts := range [...][]uint64{p.buckets, p.positive.counts, p.negative.counts, {p.zeroCount}} {
		for _, n := range counts {
			if n > left {
				return false
			}
			left -= n
		}
	}
	return left == 0 || math.IsNaN(p.value)
}

// setSeries sets what a point has in common with the others of its series: those with its labels.
func (t *translator) setSeries(p *point) {
	t.common = append(model.AppendLabel(t.common[:0], t.resourceKey.job, t.resourceKey.instance), t.scopeHead...)
	of := t.of.kind
	if of == sum {
		of = gauge
	}
	t.head = append(append(model.AppendLabel(t.head[:0], t.name, ""), byte(of)), t.common...)
	for _, a := range p.attributes {
		name := t.labelName(a.key)
		if t.isTaken(name) {
			t.note(fmt.Sprintf("%.200s: attribute %.100q was left out: its label has another meaning",
				t.of.name, a.key))
			continue
		}
		t.common, t.head = model.AppendLabel(t.common, a.key, a.value), model.AppendLabel(t.head, name, a.value)
	}
	t.series, t.known, t.open = keyhash.Of(t.head), true, false
}

// isTaken reports whether a label is that of the resource, of the scope, or of a part of the metric.
func (t *translator) isTaken(label string) bool {
	return label == "job" && t.resourceKey.job != "" || label == "instance" && t.resourceKey.instance != "" ||
		label == "le" && t.of.kind == histogram || label == "quantile" && t.of.kind == summary ||
		label == model.LabelName || t.scopeLabels.Get(label) != ""
}

// exemplar adds an exemplar of a point's series, of a histogram that of its bucket. As Prometheus does, it leaves out
// attributes that are too long beside the IDs.
func (t *translator) exemplar(p *point, in *exemplar) error {
	t.setHead("", "", "")
	if t.of.kind == histogram {
		bound := "+Inf"
		if at := sort.SearchFloat64s(p.bounds, in.value); at < len(p.bounds) && len(p.buckets) > 0 {
			bound = formatBound(p.bounds[at])
		}
		t.setHead("_bucket", "le", bound)
	}
	var labels, own series.Labels
	if err := t.read(t.head, &labels); err != nil {
		return err
	}
	sortAttributes(in.attributes, "")
	e := exemplars.Exemplar{Series: labels.Append(nil), Bits: math.Float64bits(in.value), Millis: -1}
	if in.at != 0 && in.at <= math.MaxInt64 {
		e.Millis = int64(in.at / 1e6)
	}
	t.setAttributes(&own, in.attributes)
	for _, attributes := range []bool{true, false} {
		if !attributes {
			own = nil
		}
		own.Set("trace_id", in.trace)
		own.Set("span_id", in.span)
		if e.Labels = own.Append(nil); e.Valid() {
			break
		}
	}
	return t.exemplars.Add(&e, t.latest, t.batch.Acquire)
}

// histogram adds the cumulative counts of the buckets.
func (t *translator) histogram(p *point) error {
	var count uint64
	for i, bound := range p.bounds {
		if len(p.buckets) == 0 {
			break
		}
		count += p.buckets[i]
		if err := t.add(p, "_bucket", "le", formatBound(bound), float64(count)); err != nil {
			return err
		}
	}
	if err := t.add(p, "_bucket", "le", "+Inf", float64(p.count)); err != nil {
		return err
	}
	return t.totals(p)
}

// defaultZeroThreshold is that of Prometheus where OTLP tells none.
const defaultZeroThreshold = 1e-128

// readHistogram makes t.native of an exponential histogram, whose bucket i is bucket i-1 of an exponential one. The
// reason refuses it. Other kinds have none.
func (t *translator) readHistogram(p *point) (reason string) {
	if t.of.kind != exponentialHistogram {
		return ""
	}
	offset := max(p.positive.offset, p.negative.offset)
	if !(p.zeroThreshold >= 0 && p.zeroThreshold <= math.MaxFloat64) || offset == math.MaxInt32 {
		return "the zero threshold or an offset of a histogram is out of its range"
	}
	h := &native.FloatHistogram{Schema: p.scale, Count: float64(p.count), Sum: p.value,
		ZeroThreshold: cmp.Or(p.zeroThreshold, defaultZeroThreshold), ZeroCount: float64(p.zeroCount)}
	if t.of.temporality == delta { // sum_over_time adds them up
		h.CounterResetHint = native.GaugeType
	}
	h.PositiveSpans, h.PositiveBuckets = p.positive.native()
	h.NegativeSpans, h.NegativeBuckets = p.negative.native()
	t.native = h
	if p.scale > native.ExponentialSchemaMax && native.IsExponentialSchemaReserved(p.scale) {
		if err := h.ReduceResolution(native.ExponentialSchemaMax); err != nil {
			return err.Error()
		}
	}
	if err := h.Validate(); err != nil {
		return err.Error()
	}
	return ""
}

// exponentialHistogram adds t.native.
func (t *translator) exponentialHistogram(p *point) error {
	t.setHead("", "", "")
	var labels series.Labels
	if err := t.read(t.head, &labels); err != nil {
		return err
	}
	err := t.batch.AddHistogram(&labels, carbonara.Timestamp(p.at), t.native)
	for measures, _ := t.batch.Columns(); len(t.pointOf) < len(measures); {
		t.pointOf = append(t.pointOf, t.points)
	}
	return err
}

// native returns buckets as those of a native histogram.
func (b *exponentialBuckets) native() (spans []native.Span, counts []float64) {
	if len(b.counts) == 0 {
		return nil, nil
	}
	for _, n := range b.counts {
		counts = append(counts, float64(n))
	}
	return []native.Span{{Offset: b.offset + 1, Length: uint32(len(counts))}}, counts
}

// totals adds count and sum. A histogram may lack its sum. A summary without one has the sum 0.
func (t *translator) totals(p *point) error {
	if err := t.add(p, "_count", "", "", float64(p.count)); err != nil || !p.hasValue && t.of.kind != summary {
		return err
	}
	return t.add(p, "_sum", "", "", p.value)
}

// add adds a measure of the series with a suffix, and with a label of its own, "" for none.
func (t *translator) add(p *point, suffix, label, text string, value float64) error {
	t.setHead(suffix, label, text)
	t.pointOf = append(t.pointOf, t.points)
	return t.batch.AddHead(t.head, carbonara.Timestamp(p.at), value)
}

// setHead makes the head of a series, in pairs as model.Labels: name and suffix, its own label, job and instance of the
// resource, labels of the scope, attributes.
func (t *translator) setHead(suffix, label, text string) {
	t.head = model.AppendLabel(model.AppendLabel(t.head[:0], t.name, suffix), label, text)
	t.head = append(t.head, t.common...)
}

// read sets the labels of a head.
func (t *translator) read(head []byte, labels *series.Labels) error {
	var pairs []attribute
	for key, value := range model.Labels(head).All() {
		pairs = append(pairs, attribute{key, value})
	}
	name, own, resource := pairs[0], pairs[1], pairs[2]
	t.setAttributes(labels, pairs[3:])
	labels.Set("job", cmp.Or(resource.key, labels.Get("job")))
	labels.Set("instance", cmp.Or(resource.value, labels.Get("instance")))
	labels.Set(own.key, own.value)
	labels.Set(model.LabelName, name.key+name.value)
	return nil
}

// refusePoint refuses the point that is visited. It ends a body of very many such points.
func (t *translator) refusePoint(reason, text string) error {
	t.refused[reason]++
	t.tell(fmt.Sprintf("%.200s: %s", t.of.name, text))
	if t.useless++; t.useless > mostUseless && 2*t.useless > t.points {
		return fmt.Errorf("more than %d points would be refused, and few stored: %s", mostUseless, t.texts[0])
	}
	return nil
}

// refuse implements visitor.
func (t *translator) refuse(points int, why error) {
	t.points += points
	t.refused["unreadable"] += points
	t.tell(why.Error())
}

// maxTexts is how many faults an answer names.
const maxTexts = 20

// tell names what is wrong with a point, as long as it is not the same as before.
func (t *translator) tell(text string) {
	if n := len(t.texts); n < maxTexts && !slices.Contains(t.texts, text) {
		t.texts = append(t.texts, fmt.Sprintf("%.400s", text))
	}
}

// note implements visitor.
func (t *translator) note(text string) {
	if len(t.notes) < maxTexts && !slices.Contains(t.notes, text) {
		t.notes = append(t.notes, text)
	}
}

// formatBound writes a bound as Prometheus' translation does.
func formatBound(bound float64) string { return strconv.FormatFloat(bound, 'f', -1, 64) }
