// Package fulldisk recognises the errors of a disk without room.
package fulldisk
