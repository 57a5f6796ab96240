// Package cores lets a process that has little to do run on one core, and on all of them as soon as there is work for
// more.
//
// A request of a few milliseconds wakes some ten goroutines one after the other. With each, Go's scheduler wakes a
// thread of another core, in case there is more to do; that looks around and sleeps again. Where measures come slowly
// this took a fifth of all CPU time (docs/decisions/0075-one-core-at-rest.md).
//
// Like GOMAXPROCS, which it sets, this is about the process as a whole: there is one state, and it does nothing before
// Pace is called.
package cores
