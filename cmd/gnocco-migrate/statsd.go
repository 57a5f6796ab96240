package main

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"time"

	"github.com/gnocco-db/gnocco/statsd"
)

// complainEvery is how often a forwarder says that nobody takes its datagrams.
const complainEvery = time.Minute

// forwardDatagrams passes what comes in at an address on to the socket at a path of this machine, until ctx ends. While
// nobody listens there datagrams are lost, as UDP's are, and the log says so. ready is called with the address once it
// listens.
func forwardDatagrams(ctx context.Context, from, to string, logger *slog.Logger, ready func(net.Addr)) error {
	in, err := statsd.Listen(from, logger)
	if err != nil {
		return err
	}
	stop := context.AfterFunc(ctx, func() { _ = in.Close() }) // the read below ends
	defer stop()
	ready(in.LocalAddr())
	var out net.Conn
	defer func() {
		if out != nil {
			_ = out.Close()
		}
	}()
	var complained time.Time
	lost := 0
	buffer := make([]byte, 64<<10)
	for {
		n, _, err := in.ReadFrom(buffer)
		switch {
		case ctx.Err() != nil:
			return nil
		case errors.Is(err, net.ErrClosed):
			return err
		case err != nil: // the fault of one datagram
			continue
		}
		// A server that was started anew has a new socket at the same path.
		for range 2 {
			if out == nil {
				if out, err = net.Dial("unixgram", to); err != nil {
					out = nil
					break
				}
			}
			if _, err = out.Write(buffer[:n]); err == nil {
				break
			}
			_ = out.Close()
			out = nil
		}
		if err == nil {
			continue
		}
		lost++
		if now := time.Now(); now.Sub(complained) >= complainEvery {
			logger.Warn("statsd: nobody takes the messages", "lost", lost, "error", err)
			complained, lost = now, 0
		}
	}
}
