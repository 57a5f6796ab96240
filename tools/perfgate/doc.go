// Command perfgate compares the central benchmarks of this tree (head) with those of the revision before the change
// (base), and fails if one of them got slower.
//
// It builds the test programs of both, and runs each benchmark a fixed number of times, by turns, in a process of its
// own. It takes the user and system time of that process on one processor: unlike elapsed time, it hardly depends on
// what else the machine does. A pair of runs, one of each side, gives a ratio. A benchmark is red if the 95 %
// confidence interval of the median of the ratios lies wholly above the limit, and does so once more when measured
// anew. No more pairs are run once the interval lies below the limit.
//
// Base is where HEAD left origin/main. If HEAD lies on it, or there is no such branch, base is HEAD's first parent. A
// benchmark without a base is not compared, and the reason printed: in a clone without history, or if it is new. A
// benchmark that is changed to do more gets a new name, and so begins anew. A package that moved keeps its former path
// in the table of gates for as long as base may have it there.
package main
