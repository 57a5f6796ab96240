// Package budget shares a number of bytes between requests. Who is about to take memory in proportion to what a client
// sent or asks for takes it from the request's Account first, and fails with ErrExhausted where too little is left.
// Package server divides the operator's memory limit, and gives requests one Budget; what caches, heads and memtables
// get is fixed, and not part of it.
//
// A read for an answer that was refused gives back what it took, waits for a reservation of twice as much, and begins
// anew: who waits holds nothing, so that those who hold something end. What never fits is a TooLargeError.
//
// An Account of up to 1 MiB may use the whole budget. Of larger ones, bodies may use five eighths, answers half, and
// both three quarters. So requests for much never keep out those for little, nor bodies answers, or they bodies,
// altogether. Labels of series stay for later requests; of the rest, an eighth of the budget is left for small accounts
// then.
//
// The Account travels in the request's context. All that it took comes back when the request ends, so nobody has to
// give back before; large memory that is let go earlier may be given back at once.
package budget
