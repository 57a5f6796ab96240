// Package exemplars keeps the newest exemplars that senders pushed to this process: in memory, within a bound of bytes,
// gone with the process. An exemplar is one observation behind a series' measures, mostly with the ID of a trace.
package exemplars
