// Package api is HTTP in and out: it routes, authorizes, decodes, calls the stores and encodes. It and the packages
// below it alone know status codes. The API is Gnocchi's, version 1; openapi.yaml at the root of the repository is the
// contract, and a test compares it with the routes, both ways.
//
// On the path of measures in, a request is read into pooled memory, decoded by package measures, each metric looked up
// and authorized, and the measures go as one block a sack to storage/incoming, whose sync the 202 waits for. On the
// path out package query reads the aggregates, and package text writes the rows.
//
// Other protocols are rooms with routes of their own: prometheus, influxdb, promql, correlations. They share web.Env
// with the handlers here. Senders of other databases name metrics, and expect them to be created: package ingest finds
// the metrics of a request, and creates the missing ones. From there on it is the same path.
//
// Read web/env.go first (how a handler becomes an http.HandlerFunc), then routes.go (the map), then the file of the
// resource that you are after; measures_in.go and measures_read.go are the hot ones. The invariants:
//
//   - A handler returns an error before it has written anything; web/errors.go gives it status and body.
//   - A request of measures is accepted as a whole or not at all, and 202 means durable.
//   - Where Gnocchi's code and documentation differ, the API follows the code, in status and text.
package api
