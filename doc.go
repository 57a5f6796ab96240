// Package gnocco is the map of Gnocco, a time-series database that speaks Gnocchi's REST API. It holds that API's
// description, openapi.yaml, and no code.
//
// Six boxes. Imports point down:
//
//	+----------------------------------------------------------------------------------+
//	| programs    cmd: flags, settings and subcommands; modules of their own beside    |
//	+----------------------------------------------------------------------------------+
//	| in and out  server starts a process; api, console, listener, statsd: who asks    |
//	|             and sends; ingest: names become metrics, measures become blocks;     |
//	|             rules: answers computed before anybody asks                          |
//	+----------------------------------------------------------------------------------+
//	| reads       query: what a read means, aggregates, PromQL, correlations           |
//	+----------------------------------------------------------------------------------+
//	| processes   cluster: claims and routing; metricd: aggregation; backup: copies    |
//	+----------------------------------------------------------------------------------+
//	| storage     storage: Pebble stores and who may open them; model: the nouns       |
//	+----------------------------------------------------------------------------------+
//	| series      carbonara: a series in memory, codecs; correlate; gpu: both on CUDA; |
//	|             anomaly: how far a window is from earlier ones                       |
//	+----------------------------------------------------------------------------------+
//
// Beside them are internal, helpers with several users; tests, of whole processes; bench; deploy; tools; docs.
//
// A measure goes api → ingest → storage/incoming → metricd → carbonara → storage/archive. A read goes api → query →
// cluster → metricd → storage/archive → carbonara. docs/explain/architecture.md follows both, and has a line for each
// package.
//
// api and metricd do not know each other: query has the interface that cluster implements, and server hands one to the
// other. Read carbonara's package comment for the meaning of aggregates, then model's, then the one of the package that
// you are after.
package gnocco

import _ "embed"

// OpenAPI is the description of the REST API, in YAML.
//
//go:embed openapi.yaml
var OpenAPI []byte

// License is what may be done with this program.
//
//go:embed LICENSE
var License string
