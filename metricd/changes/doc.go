// Package changes notes the ranges of time in which a sack's metrics have changed behind a horizon: the time up to
// which a listener has computed something from them. Recording rules do (package rules).
//
// # Law
//
// A listener sets the horizon of every sack, and reads after that. Then each measure before the horizon either was
// there to be read, or is noted when it comes; so is the range of every rewritten archive. Without a listener a sack
// notes nothing, and a measure in order costs a comparison: it lies behind the horizon.
//
// # Crashes
//
// A checkpoint holds the notes that no listener took yet, beside the groups that they are about. Measures that are in
// no checkpoint are replayed, and a sack that was just opened does not know its horizon: it notes all of them. A
// listener acknowledges notes once it has made them durable. So a listener may see a note twice, and never misses one.
//
// A sack has notes of Most metrics; beyond them one note stands for all metrics.
package changes
