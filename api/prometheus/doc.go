// Package prometheus serves Prometheus remote write, version 1, and version 2 where labels are kept: a
// snappy-compressed protobuf message of series, each with labels and measures. Handlers (handlers.go,
// labelled_write.go) read a body, decode it (write_request.go), and hand the series to package ingest, which finds or
// creates their metrics. Read write_request.go first, then target_metric.go.
//
// Exemplars are kept in memory (ingest/exemplars), and native histograms as series of their parts.
// Duplicate fields count as protobuf has it: repeated fields add up, of others the last one counts.
//
// Which metric a series belongs to depends on where it is sent. /api/v1/write keeps all labels: each set of them is a
// metric. /v1/prometheus/write has Gnocchi's mapping: labels job and instance name the resource, "job@instance", the
// label __name__ names the metric, and all other labels are lost. So series that differ by those only are the same
// metric, and of several in one request the last one counts.
//
// A stale marker, the NaN by which Prometheus says that a series has ended, is no measure and left out. Other NaN are
// kept.
package prometheus
