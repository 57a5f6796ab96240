// Package pairplot draws correlations: a matrix as a heat map, and two columns as a scatter. The ending of a file's
// name says whether it becomes PNG or SVG.
package pairplot
