// Package senders holds tests in which other projects' programs send to a server, or ask it, as far as they are
// installed.
package senders
