// Package budget shares a number of bytes between requests. Memory in proportion to a client's input or question is
// first acquired from the request's Account, which fails with ErrExhausted where too little is left. Package server
// divides the operator's memory limit, and gives requests one Budget; the memory of caches, heads and memtables is
// fixed, and not part of it.
//
// A read for an answer that was refused releases its memory, waits for a reservation of twice as much, and begins
// anew: a waiting read holds no memory, so that the others end. An answer that never fits is a TooLargeError.
//
// An Account of up to 1 MiB may use the whole budget. Of larger ones, bodies may use five eighths, answers half, and
// both three quarters. So large requests never exclude small ones, and bodies and answers never exclude each other.
// Labels of series stay for later requests; of the rest, an eighth of the budget is left for small accounts then.
//
// The Account travels in the request's context. The end of the request releases all its memory; large memory that is
// not used any more may be released earlier.
package budget
