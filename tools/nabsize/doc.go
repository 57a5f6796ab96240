// Command nabsize measures how many bytes a group takes in splits: for each CSV file given (a header, then timestamp and
// value), its values are taken as regular, put into groups of so many measures (--measures), and encoded with the
// columns of mean, min, max, sum, count and std. It checks that they come back.
package main
