// Package roster remembers lists of metrics. Senders name the same metrics in the same order, request after request;
// to look up each of them again costs a cache miss or two.
package roster
