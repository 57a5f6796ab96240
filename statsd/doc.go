// Package statsd takes the measures that statsd's clients send, by UDP. It runs beside the API in one process, and
// hands what it gathers to package ingest as the API does. Read server.go first, then message.go.
//
// As with Gnocchi's, one resource holds all metrics, named "NAME|g" for gauges, "NAME|c" for counters, "NAME|ms" for
// timers and "NAME|s" for sets, created when they first come in. A slash in a name becomes "_". A flush stores, at the
// time at which the latest message came in:
//
//	gauge    its last value; +N and -N change the one before, also that of an earlier flush, and start at 0 without one
//	counter  the sum, each value divided by its sampling rate
//	set      the number of distinct values
//	timer    all values, each at the time at which it came in, a nanosecond later than the one before at least
//
// The values of histograms and distributions are a timer's, those of meters a counter's. A sampled timer's value is
// stored once: mean and percentiles are right, the count is that of the values sent. Gnocchi stores the last value of a
// timer only, and takes a change of a gauge for a value.
//
// A flush forgets everything but the last values of gauges, so that a gauge that nobody sends has no measures. These
// are kept in memory: after a restart, a change starts at 0.
//
// It refuses messages that it does not understand, and counts them by reason: UDP has no answer. A line of blanks is no
// message. It ignores DogStatsD's tags and containers. A gauge or counter with a time of its own has a measure at that
// time, beside that of the flush.
//
// With Options.Labels there is no resource (series.go). A message is of the series whose labels are its name, as it
// stands, and DogStatsD's tags. Flushes take the way of the other listeners, so that every process may listen.
//
// There are no credentials: anybody who can reach the port can create metrics. It listens on the loopback address
// unless told otherwise.
package statsd
