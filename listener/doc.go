// Package listener takes series that senders push as lines by TCP or UDP, without HTTP and without credentials. A
// Decoder of the protocol reads lines into a batch, and a server makes each batch durable before it reads on: that is
// the back-pressure of a TCP sender. Its Store brings the batch to the holder of the index, in this process or another
// one. Read server.go first.
//
// Senders get no answer, so every refused element is counted by its reason, and the first of each reason is logged.
package listener
