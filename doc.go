// Package gnocco is the map of Gnocco, a time-series database that speaks Gnocchi's REST API. It holds that API's
// description, openapi.yaml, and no code.
//
// A measure goes api → ingest → storage/incoming → metricd → carbonara → storage/archive. A read goes api → query →
// cluster → metricd → storage/archive → carbonara. Imports point down:
//
//	cmd/gnocco            flags and subcommands; cmd/gnocco/internal has what only they need
//	cmd/metricd           one subcommand under its own name
//	cmd/gnocco-migrate    copies a Gnocchi, and has its configuration and names; a module of its own
//	cmd/gnocco-migrate/internal/gnocchiconf         what Gnocchi's configuration means here
//	cmd/gnocco-import     reads files of other programs for gnocco import; a module of its own
//	cmd/gnocco-import/{csv,internal/csvimport}      by which rules CSV is read; makes requests of files
//	cmd/shared            commands and defaults of two programs
//	cmd/shared/{imports,process,remote}        flags of imports; logs, other programs; which server a command asks
//	internal/backup       copies a data folder while its cluster serves, and restores it
//	cmd/gnocco-backup     backups in buckets of S3, encrypted by age; a module of its own
//	cmd/gnocco-correlate  correlates the columns of files; a module of its own
//	cmd/gnocco-correlate/csv                        reads columns
//	cmd/gnocco/internal/{demo,fsck,inspect,offline}
//	server                wires one process and starts it
//	api                   HTTP in and out: route, authorize, decode, call, encode
//	api/{auth,policy}     who sent a request; who may do what
//	api/web               what all handlers share: limits, bodies, errors and their status codes
//	api/measures          bodies of measures
//	api/{prometheus,influxdb,otlp,imports,wire}     handlers and bodies of other databases' senders
//	api/{promql,correlations}                  handlers of Prometheus' API; of correlations and changes
//	api/{operators,pages}                      what operators ask; what browsers load
//	api/{text,static,viewer}                   numbers and rows as text; embedded files; the page that shows openapi.yaml
//	console               the console: pages for browsers, built of TypeScript
//	statsd                measures by UDP
//	listener              series by TCP and UDP
//	listener/graphite     Graphite's lines
//	query                 what a read means
//	query/{aggregates,correlations}            the language of dynamic aggregates; correlations of stored metrics
//	query/activity                             queries that run, what they cost, metrics that none reads
//	query/exemplars                            the newest exemplars of senders, in memory
//	query/{promql,postings}                    PromQL over archives; the labels of all metrics, in memory
//	query/promql/columns                       the common shapes of PromQL, over all series at once
//	ingest                names become metrics, measures reach the incoming store; every protocol uses it
//	ingest/series         pushed series with labels become metrics, of all protocols with labels
//	cluster               one process among several: reconcile loops, ownership, routing of reads
//	cluster/{peer,datafolder}                  how processes talk; what lies where in the data folder
//	metricd               workers: own sacks, process, expunge
//	metricd/intake        in which order measures count: late, too old, settled
//	metricd/heads         the recent past of metrics in memory, and its checkpoints
//	metricd/view          what a read of a sack sees, at one version
//	metricd/rebuild       one archive brought into another schema
//	storage               the error of bytes that do not decode
//	storage/{index,incoming,archive,engine}    Pebble stores, and how they are opened
//	storage/index/{metrics,search}             metrics and lists of them; searches of resources
//	storage/index/{keyspace,records,commits}   the index's keys, its values, and the order of its writes
//	storage/claim         who may open which store
//	storage/claim/etcd    the same by etcd
//	model                 the nouns and their rules
//	model/filter          which resources a search is after
//	carbonara             a series in memory: grouping, aggregation methods, splits, the resampler; no I/O
//	carbonara/{intcodec,ranked,sketch}         the integer codec; values by rank; distributions in few bytes
//	correlate             which of many columns say the same: all pairs
//	correlate/{pairs,tile}                     pairs as text; the inner product
//	gpu/device            a CUDA device: memory, streams, and the goroutine that owns it
//	gpu/resample          the resampler on devices
//	gpu/correlate         the correlation engine on devices
//	gpu/{kernels,cu}      kernels and their PTX; the driver's calls
//	bench                 the benchmarks; a module of its own
//	bench/cmd/gnocco-bench                     their program
//	bench/{correlation,device,device/kernels,formats,pattern,report}
//	internal/{budget,bytesize,client,compensated,connections,corruption}  helpers with several users
//	internal/{decimal,devices,diskprobe,fulldisk,idset,keyhash,keystone}     more of them
//	internal/{lint,parallel,pause,progress,quota,roster,simd,version}                      and more
//	tests/{claimtest,correlatetest}            what every coordinator and every correlation engine is held to
//	tests/{cutest,devicetest}                  a driver without a device; a device, or its stand-in
//	tests/{golden,promtest,seedtest,testcert,testnode,testprogram}           what the tests of many packages need
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
