// Package sketch holds the distribution of a group's measures in few bytes, from which any percentile can be read with
// an error of 1.1 %. It is a leaf: it knows values, and no groups. Package carbonara has a column of sketches.
package sketch
