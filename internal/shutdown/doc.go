// Package shutdown ends HTTP servers without waiting for clients that keep a connection in store.
package shutdown
