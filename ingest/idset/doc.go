// Package idset finds metrics that stand twice in a list.
package idset
