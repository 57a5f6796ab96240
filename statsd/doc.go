// Package statsd takes the measures that statsd's clients send, by UDP. It runs beside the API in one process, and
// hands what it gathers to package ingest as the API does. Read server.go first, then message.go.
//
// It behaves as Gnocchi's: one resource holds all metrics, named "NAME|g" for gauges, "NAME|c" for counters and
// "NAME|ms" for timers, created when they first come in. From one flush to the next it keeps one measure of each
// metric: the latest value of a gauge or timer, the sum of a counter, at the time at which the latest message came in.
// A flush forgets everything, so that a gauge that nobody sends has no measures.
//
// What it does not understand is refused message by message, counted by reason and otherwise without a trace: UDP has
// no answer. So are sets, and changes of gauges ("+1", "-1"), which would need what the gauge was before.
//
// Nobody is asked for credentials: who can reach the port can create metrics. It listens on the loopback address unless
// told otherwise.
package statsd
