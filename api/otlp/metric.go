package otlp

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strconv"
)

// A metric is what the points of one metric of a body have in common. Its texts refer to the body.
type metric struct {
	name, description, unit string
	kind                    kind
	temporality             int
	monotonic               bool
}

type kind int

// The kinds have the numbers of their fields in message Metric.
const (
	unknown              kind = -1
	gauge                kind = 5
	sum                  kind = 7
	histogram            kind = 9
	exponentialHistogram kind = 10
	summary              kind = 11
)

// Temporalities, as message AggregationTemporality numbers them.
const (
	delta      = 1
	cumulative = 2
)

// A point is a point of any kind.
type point struct {
	attributes []attribute
	same       bool   // attributes are those of the metric's point before, as tails say
	tail       []byte // of a message of protobuf, behind times and numbers
	at         uint64 // nanoseconds since 1970
	flags      uint64
	exemplars  []exemplar

	value    float64 // of a number; the sum of a histogram or summary
	hasValue bool

	count     uint64
	buckets   []uint64
	bounds    []float64
	quantiles []quantile

	exponential // of an exponential histogram
}

// exponential is the buckets of an exponential histogram. Their counts are in the order of indexes.
type exponential struct {
	scale              int32
	zeroCount          uint64
	zeroThreshold      float64
	positive, negative exponentialBuckets
}

type exponentialBuckets struct {
	offset int32 // index of the first bucket
	counts []uint64
}

type quantile struct{ quantile, value float64 }

// An exemplar has IDs of trace and span as hex digits.
type exemplar struct {
	attributes  []attribute
	at          uint64 // nanoseconds since 1970
	value       float64
	trace, span string
}

// noValue is the flag of a point that says that its series has ended.
const noValue = 1

// An attribute has a value as text, as labels have it.
type attribute struct{ key, value string }

// A scope is the library that made metrics.
type scope struct {
	name, version, schemaURL string
	attributes               []attribute
}

// A visitor gets the content of a body in order.
type visitor interface {
	// resource begins the metrics of a resource.
	resource(attributes []attribute) error
	// scope begins the metrics of a scope of that resource. The visitor keeps none of it.
	scope(s *scope) error
	// metric begins the points of a metric.
	metric(m *metric) error
	// point visits a point of that metric. The visitor keeps none of its slices, whose attributes it sorts.
	point(p *point) error
	// refuse says why points could not be read.
	refuse(points int, why error)
	// note says what else is not stored.
	note(text string)
}

// textOf returns the value of an attribute as a label has it: a list or a map as JSON, bytes as base64.
func textOf(value any) string {
	switch v := value.(type) {
	case nil:
		return ""
	case string:
		return v
	case []byte:
		return base64.StdEncoding.EncodeToString(v)
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64)
	}
	text, err := json.Marshal(value)
	if err != nil { // a number that JSON lacks
		return fmt.Sprint(value)
	}
	return string(text)
}
