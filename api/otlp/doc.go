// Package otlp serves OpenTelemetry's protocol for metrics, OTLP/HTTP, in protobuf and JSON. A body is decoded
// metric by metric (protobuf.go, json.go) into one form (metric.go), and translate.go makes series of it with the
// names that Prometheus gives them. Read metric.go first, then translate.go.
//
// Cumulative and delta points are stored as they come. A delta sum is exact in the archive method sum, so
// sum_over_time reads it. Histograms with bounds become series _bucket, _count and _sum, exponential ones native
// histograms. A resource becomes the labels job and instance (resources.go), and the series target_info with the other
// attributes. A scope becomes the labels otel_scope_name, otel_scope_version and those of its attributes.
//
// An element that cannot be read costs itself: a point, the points of a metric, an exemplar. Of two points of one
// series and time in a body the second is refused. Refused points are partial success, as the specification has it, and
// the message names them. It also names resources that share their series. 429 and 503 ask the exporter to repeat the
// request.
package otlp
