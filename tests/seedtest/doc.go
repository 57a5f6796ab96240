// Package seedtest gives random tests their seeds: the same in every run, so that a run that fails fails again, and
// others where tools/long.sh looks for new faults.
package seedtest
