// Package counted writes numbers of things for people.
package counted
