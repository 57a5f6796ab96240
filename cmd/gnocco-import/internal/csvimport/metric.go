package csvimport

import (
	"maps"
	"slices"
	"strconv"
	"time"
	"unsafe"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/cmd/gnocco-import/internal/requests"
	"github.com/gnocco-db/gnocco/internal/client"
	"github.com/gnocco-db/gnocco/model"
)

// metric is a metric of the files, and gathers its measures for its sender's next request.
type metric struct {
	seriesName
	unit, policy string              // of a new metric; "": none, and as Options.ArchivePolicy says
	valueType    string              // of a new metric; "": not known
	granularity  float64             // of the aggregates in an export, in seconds; 0: not known
	rows         int64               // in the files
	read         carbonara.Timestamp // of the record before
	newest       carbonara.Timestamp // of these, and of the server's

	id            string
	droppedBefore int64               // measures that the server dropped before the import
	keptFrom      carbonara.Timestamp // the server accepts no older measures; 0: all
	older         int64               // measures of the files that are older
	refused       refused             // of these
	archive       *archivePolicy      // nil: not known yet
	before        carbonara.Timestamp // of the measures counted, the last one; -1: none
	counted       bool                // archive has counted the measures
	aggregates    []aggregatesOf      // of Thanos' blocks

	created bool // by this import
	offered bool // the server may have measures of this import
	sender  *sender
	pending []byte // `{"timestamp":1392388200,"value":0.132},` …
}

// seriesPolicy and counterPolicy are the archive policies that a server gives pushed series.
var (
	seriesPolicy  = model.SeriesArchivePolicy()
	counterPolicy = model.CounterArchivePolicy(seriesPolicy)
)

// newMetric returns what the server creates. It decides the archive policy of a series as if a sender had pushed it,
// also where that of most series is named.
func (m *metric) newMetric() client.NewMetric {
	policy := m.policy
	if m.labels != "" && policy == seriesPolicy.Name {
		policy = ""
	}
	return client.NewMetric{ArchivePolicy: policy, Unit: m.unit, Type: m.valueType}
}

// expectedPolicy returns the archive policy that a server without metadata gives a new metric; "" if its rules decide.
func (m *metric) expectedPolicy() string {
	name := m.newMetric().ArchivePolicy
	switch {
	case name != "" || m.labels == "":
		return name
	case model.SeriesType(m.valueType).Grows() || m.valueType == "" && m.typeByName().Grows():
		return counterPolicy.Name
	}
	return seriesPolicy.Name
}

// typeByName returns the type that a server without metadata gives the metric.
func (m *metric) typeByName() model.SeriesType {
	labels, _ := m.labelMap()
	var encoded []byte
	for _, name := range slices.Sorted(maps.Keys(labels)) {
		encoded = model.AppendLabel(encoded, name, labels[name])
	}
	return model.TypeOfLabels(model.Labels(encoded), nil)
}

// plan returns what its archive policy computes.
func (m *metric) plan() (*carbonara.Plan, error) {
	methods, err := carbonara.ParseMethods(m.archive.methods)
	if err != nil {
		return nil, err
	}
	var granularities []time.Duration
	for _, item := range m.archive.items {
		granularities = append(granularities, item.granularity)
	}
	return carbonara.NewPlan(granularities, methods), nil
}

// foundArchive notes what the server says of the archive before the import, nil if it does not.
func (m *metric) foundArchive(a *requests.Archive) error {
	if a == nil {
		return nil
	}
	m.droppedBefore = a.Dropped
	if a.Raw.Newest == nil || a.Raw.KeptFrom == nil {
		return nil
	}
	newest, err := model.ParseTimestamp(*a.Raw.Newest, 0)
	if err != nil {
		return err
	}
	m.newest = max(m.newest, newest)
	m.keptFrom, err = model.ParseTimestamp(*a.Raw.KeptFrom, 0)
	return err
}

// isUsed reports whether the files have something of the metric.
func (m *metric) isUsed() bool { return m.rows > 0 || m.aggregates != nil }

// see counts a measure. Of equal times only the first is counted.
func (m *metric) see(t carbonara.Timestamp) {
	if m.archive != nil && !m.counted && t != m.before {
		m.archive.see(t, m.before, m.newest)
	}
	m.before = t
}

// add makes a measure pending, and flushes the sender once it has a batch.
func (m *metric) add(t carbonara.Timestamp, value float64) {
	if len(m.pending) == 0 {
		m.sender.metrics = append(m.sender.metrics, m)
	}
	m.pending = appendMeasure(m.pending, t, value)
	if m.sender.measures++; m.sender.measures >= m.sender.batch {
		m.sender.flush()
	}
}

// appendMeasure appends a measure as JSON.
func appendMeasure(dst []byte, t carbonara.Timestamp, value float64) []byte {
	dst = appendSeconds(append(dst, `{"timestamp":`...), t)
	return append(appendNumber(append(dst, `,"value":`...), value), "},"...)
}

// appendSeconds appends a time as seconds since 1970.
func appendSeconds(dst []byte, t carbonara.Timestamp) []byte {
	dst = strconv.AppendInt(dst, int64(t)/int64(time.Second), 10)
	if nanoseconds := int64(t) % int64(time.Second); nanoseconds != 0 {
		dst = append(dst, '.')
		for unit := int64(time.Second) / 10; nanoseconds != 0; unit /= 10 {
			dst = append(dst, byte('0'+nanoseconds/unit))
			nanoseconds %= unit
		}
	}
	return dst
}

// appendNumber appends a number as JSON.
func appendNumber(dst []byte, value float64) []byte {
	if value-value != 0 { // NaN or infinite: words that Gnocchi knows, but JSON doesn't
		return append(strconv.AppendFloat(append(dst, '"'), value, 'g', -1, 64), '"')
	}
	return strconv.AppendFloat(dst, value, 'g', -1, 64)
}

// view is b as a string without a copy. It must not be kept longer than b stays as it is.
func view(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }
