// Package reach decides whether a process reaches enough of its cluster to answer requests.
package reach
