// Package process is what several programs do about their own process: they write a log, and become another program.
package process
