// Package budget shares a number of bytes between requests. Memory in proportion to a client's input or question is
// first taken from the request's Account, which fails with ErrExhausted where too little is left. Package server
// divides the operator's memory limit, and gives requests one Budget; the memory of caches, heads and memtables is
// fixed, and not part of it.
//
// A read for an answer that was refused gives back what it took, waits for a reservation of twice as much, and begins
// anew: a waiting read holds no memory, so that the others end. An answer that never fits is a TooLargeError.
//
// An Account of up to 1 MiB may use the whole budget. Of larger ones, bodies may use five eighths, answers half, and
// both three quarters. So large requests never exclude small ones, and bodies and answers never exclude each other.
// Labels of series stay for later requests; of the rest, an eighth of the budget is left for small accounts then.
//
// The Account travels in the request's context. All that it took comes back when the request ends, so nobody has to
// give back before; large memory that is let go earlier may be given back at once.
package budget
