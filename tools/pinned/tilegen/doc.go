// Command tilegen writes the assembly of package tile. It runs in its module's folder.
//
// The columns of b lie in vectors, and the columns of a are broadcast. So a row of a tile (one column of a, all of b)
// is a register of sums, and is stored as it stands.
package main
