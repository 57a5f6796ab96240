// Package archive is the store of one sack: the splits and raw series of its metrics, and how far each incoming store
// has been consumed. It is one Pebble store with one holder; package metricd is the only writer.
//
// A checkpoint is one synced batch: new and changed groups as merge operands of their splits, new measures as merge
// operands of the raw series, and the consumed marks. So a crash leaves either all of a batch of measures in the
// archives with the mark behind it, or neither. Measures replayed from the incoming store count once.
//
// Keys sort by metric, so that what belongs to a metric lies side by side and goes with one range deletion:
//
//	0x00 'm' source                                    mark: last consumed sequence, 8 bytes big-endian
//	0x00 't'                                           when the last checkpoint began, ns since 1970, 8 bytes big-endian
//	0x00 'q' source 0x00 sequence                      an incoming block that did not decode, kept as it was
//	0x00 'x' key hash(8)                               an operand of key that a repair found damaged, kept as it was
//	0x00 'u'                                           there since a metric of the store had unsettled measures
//	0x00 'c'                                           changes that no rule has taken yet, while rules listen
//	0x01 metric(16) 0x00                               raw series
//	0x01 metric(16) 0x01 granularity(8) start(8)       split
//	0x01 metric(16) 0x02                               measures dropped as too old, 8 bytes big-endian, added up
//	0x01 metric(16) 0x02 0x01                          measures late, but not too old; in the same way
//	0x01 metric(16) 0x03                               partial groups: aggregates of measures that are gone
//	0x01 metric(16) 0x04                               unsettled measures: others may yet come from before them
//
// Values of splits and raw series are operand lists, see merge.go and docs/format/archive.md.
package archive
