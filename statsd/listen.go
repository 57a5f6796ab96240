package statsd

import (
	"errors"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"strings"
)

// unixPrefix marks an address that is the path of a socket of this machine, for datagrams: its file's permissions say
// who can send.
const unixPrefix = "unix:"

// Listen opens a socket for datagrams: at host:port, or at a path as unix:PATH.
func Listen(address string, logger *slog.Logger) (net.PacketConn, error) {
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
