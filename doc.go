// Package gnocco is the map of Gnocco, a time-series database that speaks Gnocchi's REST API. It holds that API's
// description, openapi.yaml, and no code.
//
// Measures come in at api, are kept by storage/incoming, and are turned into aggregates by metricd, which keeps them in
// storage/archive; api reads them from there. Imports point down:
//
//	cmd/gnocco         flags, configuration, wiring
//	api                HTTP in and out; api/measures decodes bodies of measures, api/prometheus and api/influxdb those of others,
//	                   and api/policy has the rules of who may do what
//	statsd             measures by UDP
//	metricd            workers: own sacks, process, expunge
//	internal/server    one process of a cluster: holds its share of the stores; internal/peer is how processes talk
//	storage            index, incoming and archive: Pebble stores; engine opens them; claim says who may
//	model              the nouns and their rules; model/filter finds resources
//	correlate          which of many columns say the same: all pairs, from memory or CSV
//	carbonara          a series in memory: grouping, aggregation methods, splits, the resampler; no I/O
//
// api and metricd do not know each other: internal/server hands one to the other. Read carbonara's package comment for what
// aggregates mean, then model's, then that of the package that you are after.
package gnocco

import _ "embed"

// OpenAPI is the description of the REST API, in YAML.
//
//go:embed openapi.yaml
var OpenAPI []byte
