// Package quota counts what projects send, and refuses what is beyond their quotas.
//
// Each process has a Book, which counts also where there are no quotas. The book of the process that holds the index is
// the one that counts for the cluster: each second the others report to it the measures and requests that they
// accepted (exchange.go), with the question for the index's version that they send in any case. It answers with the
// quotas and the balances.
//
// A project's balance of measures, or of requests, grows by its quota each second, up to burst seconds' worth. It falls
// by all that any process accepted, below 0 if several accept at once. So over a longer time a project gets its quota,
// exactly. While the holder of the index cannot be asked, each process goes on by its own balances.
//
// Series are not counted here: the index counts them, and asks the Book for the bound.
package quota
