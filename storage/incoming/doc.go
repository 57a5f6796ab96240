// Package incoming is the store of measures that one api process accepted and that are not yet processed. It is the
// middle of the path of a measure: the api appends blocks and answers 202 once Append returns; the worker of each sack
// drains its records, and acknowledges them once a checkpoint holds what they led to.
//
// It is one Pebble store with one holder. A record is what one request brought for the metrics of one sack:
//
//	sack (2) | sequence (8)            big-endian, so that the records of a sack lie in the order of arrival
//	  -> measures before | blocks before   uvarints: what the sack had been sent before this record (see backlog.go)
//	     0x80 | stamp                      when it was accepted; see clock.go
//	     0x81 | list                       if a list has the block's metrics; see id_lists.go
//	     block                             see block.go and docs/format/incoming.md
//	0xff 0xff 'c' epoch                the clock of an epoch's stamps
//	0xff 0xff 'i' sack number          a list of metrics
//	0xff 0xff 'm'                      identity, epoch, number of sacks
//
// Read first: append.go and committer.go for the way in, drain.go for the way out.
//
// Invariants:
//   - A request is durable as a whole or not at all: all its records are in one synced batch.
//   - The sequence, epoch<<40 | counter, never goes back. The epoch is raised, synced, at each Open, and kept also
//     when all records are deleted; so a mark "consumed up to" stays meaningful for as long as the store lives.
//   - Stamps rise with the sequences of an epoch. A stamp lies between the request's arrival and its 202, so that a
//     request sent after another one's 202 has the later stamp, also across stores, if their clocks agree.
//   - Records are published in the order of their sequences, after the sync. So no reader sees a gap that fills
//     later, or a measure that a crash could take back.
//   - After a failed write or sync nothing is acknowledged until the store is opened anew.
package incoming
