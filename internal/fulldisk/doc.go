// Package fulldisk is what a process does on a disk without room: it recognises its errors, holds a reserve for work
// under way, waits with writes, and writes again what a failed sync may have lost.
package fulldisk
