// Command licenses writes the licences of all modules that a program is linked from, for `gnocco licenses`: each text
// once, under the names of the modules that have it.
package main
