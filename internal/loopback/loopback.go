package loopback

import (
	"fmt"
	"math/rand/v2"
	"net"
)

// Free returns a loopback address on which a program may listen. Its port is below those that the kernel hands
// out by itself: one of these may go to another program between two starts of a server, and even before the first.
func Free() (string, error) {
	var err error
	for range 100 {
		var listener net.Listener
		listener, err = net.Listen("tcp", fmt.Sprint("127.0.0.1:", 10_000+rand.IntN(20_000)))
		if err == nil {
			return listener.Addr().String(), listener.Close()
		}
	}
	return "", err
}
