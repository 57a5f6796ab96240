// Package correlatetest holds engines that correlate to the same data and the same rules, for tests: the CPU's of
// package correlate, and the devices' of package gpu/correlate. Shapes are the data, Reference says what is true,
// Engine goes through the rules.
package correlatetest
