// Package offline opens the stores of a data folder that no server holds, for programs that look into one: fsck and
// tools/inspect. It holds the folder's lock and changes nothing by itself: archives and incoming stores are opened
// read-only, the index on a copy in memory. It alone knows where in the folder the stores lie.
package offline
