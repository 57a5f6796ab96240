// Package series stores the series that senders push: names, labels and measures, from any protocol with labels. A
// protocol decodes its body into rows, and a Writer gives them metrics, with one set of limits and counters for all
// protocols. Each set of labels is a metric of its own. A fault of one series never keeps the others from being stored.
//
// A protocol whose bodies have lists of series that repeat implements ingest.Rows itself (api/influxdb). The others
// fill a Batch. Read writer.go first, then batch.go.
package series
