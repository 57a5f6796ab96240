// Package series stores the series that senders push: names, labels and measures, from any protocol with labels. A
// protocol decodes what it receives into rows, and a Writer gives them metrics, with one set of limits and counters for
// all protocols. Each set of labels is a metric of its own. A fault of one series never keeps the others from being
// stored. Refusals are errors of a kind (refusals.go); package api gives each kind its status.
//
// A protocol whose bodies have lists of series that repeat implements ingest.Rows itself (api/influxdb). The others
// fill a Batch. Handlers of HTTP call Writer.Append. Senders without HTTP, which get no answer, call a Store, in any
// process of the cluster: the batch goes to the process that holds the index (listened.go).
//
// Read writer.go first, then batch.go.
package series
