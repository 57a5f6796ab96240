// Package rules keeps recording rules: expressions of PromQL whose results are ordinary series, computed before anybody
// asks.
//
// # Law
//
// A cell is a rule at a time T, a multiple of its interval. Its recorded value equals the answer of the expression now
// for T, seen by the rule's owner, as far back as the inputs' archives go: a new rule has history, and a cell whose
// inputs change is evaluated again. Ageing is no change: the cell stays as exact as its inputs were.
//
// The value is recorded a millisecond before T, in the group that ends at T. So a query at T finds it at any age.
//
// # Progress
//
// Each rule has a next cell, and a list of ranges that are to do; a new rule has all of its history to do. Each second
// (evaluator.go) the holder of the index, which alone evaluates, moves the horizon of all sacks to the last cell that
// is due and takes the changes behind the earlier one (package metricd/changes): cells that read them are to do
// (inputs.go). Then it evaluates the cells that are due, in the order of dependence, and then others, the newest first.
// A cell is due 10 s after T, or query_offset if that is longer: senders are late by that much.
//
// Cells that fail alone are put aside for ten minutes, so that they hold up no others.
// Results that differ from the recorded ones are written (recorder.go): by a push where the back window is open, since
// of equal timestamps the last one counts, else by a correction in the ledger. A rule remembers its metrics, and takes
// cells back only from those. Rules that read results hear of their changes from the sacks, as of any others.
//
// # Use
//
// A query that has a rule's expression as a part, at multiples of the interval, reads the recorded values and has the
// same answer (use.go): cells that are not recorded, to do again, failed or not kept singly are evaluated, once for all
// who ask at the same time. It hears of a change as late as the rules do, at most unheardFor after it can be read.
//
// # Crashes
//
// A group and its progress are one document of the index, written after the results that it speaks of, and a sack
// forgets a change once that is durable. So after a crash or a takeover some cells are evaluated twice, which changes
// nothing: a cell's measure replaces itself. After a gap of the evaluator all cells since the next one are due.
package rules
