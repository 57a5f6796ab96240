// Package ranked finds values by their rank without sorting all of them. It is a leaf.
package ranked
