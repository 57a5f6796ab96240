package statsd

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"strings"
	"time"
)

// unixPrefix marks an address that is the path of a socket of this machine, for datagrams: its file's permissions say
// who can send.
const unixPrefix = "unix:"

// listen opens a socket for datagrams.
func listen(address string, logger *slog.Logger) (net.PacketConn, error) {
	network := "udp"
	if path, ok := strings.CutPrefix(address, unixPrefix); ok {
		network, address = "unixgram", path
		// The socket of a process that was killed stays behind.
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	conn, err := net.ListenPacket(network, address)
	if err != nil {
		return nil, err
	}
	if err := conn.(interface{ SetReadBuffer(int) error }).SetReadBuffer(receiveBufferBytes); err != nil {
		logger.Warn("statsd: receive buffer stays small", "error", err)
	}
	return conn, nil
}

// complainEvery is how often a forwarder says that nobody takes its datagrams.
const complainEvery = time.Minute

// Forward passes datagrams that come in at one address on to a server at another, of this machine, until ctx ends.
// While nobody listens there they are lost, as UDP's are, and the log says so. ready is called with the address once it
// listens.
func Forward(ctx context.Context, from, to string, logger *slog.Logger, ready func(net.Addr)) error {
	in, err := listen(from, logger)
	if err != nil {
		return err
	}
	stop := context.AfterFunc(ctx, func() { _ = in.Close() }) // the read below ends
	defer stop()
	ready(in.LocalAddr())
	network := "udp"
	if path, ok := strings.CutPrefix(to, unixPrefix); ok {
		network, to = "unixgram", path
	}
	var out net.Conn
	defer func() {
		if out != nil {
			_ = out.Close()
		}
	}()
	var complained time.Time
	lost := 0
	buffer := make([]byte, maxDatagramBytes)
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
				if out, err = net.Dial(network, to); err != nil {
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
