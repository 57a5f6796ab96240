// Package correlation measures the correlation of columns, in process: the CPU's engine, a device's, numpy's, and the
// readers of CSV.
package correlation
