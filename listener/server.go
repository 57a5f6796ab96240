package listener

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"time"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/ingest/plaintext"
	"github.com/gnocco-db/gnocco/ingest/series"
)

// Server is a running listener. Close ends it.
type Server struct {
	options     Options
	instruments *instruments
	logged      sync.Map // reasons of refusal

	packets net.PacketConn
	stream  net.Listener
	running context.Context // ends when Close gives up
	stop    context.CancelFunc
	done    sync.WaitGroup

	mu     sync.Mutex
	open   map[net.Conn]time.Time // since when they are idle
	closed bool
}

const (
	maxDatagramBytes   = 64 << 10
	receiveBufferBytes = 4 << 20 // the kernel may give less
	idleTimeout        = time.Hour
	// idleInFull is how long a connection is idle that makes room for another one, when there are as many as may be.
	idleInFull = 10 * time.Second
)

// Start begins to listen.
func Start(options Options) (_ *Server, err error) {
	options.EnsureDefaults()
	if err := options.Validate(); err != nil {
		return nil, err
	}
	s := &Server{options: options, open: map[net.Conn]time.Time{}}
	s.running, s.stop = context.WithCancel(context.Background())
	if err := s.listen(); err != nil {
		return nil, fmt.Errorf("listener: %s: %w", options.Protocol, err)
	}
	s.instruments = newInstruments(&s.options)
	s.done.Go(s.receive)
	s.done.Go(s.accept)
	options.Logger.Info("listening for "+options.Protocol, "address", s.Addr().String())
	return s, nil
}

// listen opens both sockets at the same port. One that the kernel chose for packets may be taken for streams.
func (s *Server) listen() (err error) {
	const tries = 10
	for range tries {
		if s.packets, err = net.ListenPacket("udp", s.options.Listen); err != nil {
			return err
		}
		if s.stream, err = net.Listen("tcp", s.packets.LocalAddr().String()); err == nil {
			_ = s.packets.(*net.UDPConn).SetReadBuffer(receiveBufferBytes)
			return nil
		}
		err = errors.Join(err, s.packets.Close())
		if _, port, _ := net.SplitHostPort(s.options.Listen); port != "0" {
			break
		}
	}
	return err
}

// Protocol returns the protocol of the server.
func (s *Server) Protocol() string { return s.options.Protocol }

// Addr returns the address of the server.
func (s *Server) Addr() net.Addr { return s.packets.LocalAddr() }

// Close stops listening, and stores what has come in until ctx ends.
func (s *Server) Close(ctx context.Context) error {
	defer context.AfterFunc(ctx, s.stop)()
	err := errors.Join(s.packets.Close(), s.stream.Close())
	s.mu.Lock()
	s.closed = true
	for conn := range s.open { // its reader stores what it has
		_ = conn.SetReadDeadline(time.Unix(1, 0))
	}
	s.mu.Unlock()
	s.done.Wait()
	s.stop()
	s.instruments.unregister()
	return err
}

func (s *Server) newIntake() *intake {
	return &intake{server: s, batch: series.Batch{Read: s.options.Read}}
}

// receive stores datagrams until the socket is closed. Those that come within gatherFor share a batch.
func (s *Server) receive() {
	in := s.newIntake()
	buffer := make([]byte, maxDatagramBytes)
	var until time.Time
	for {
		if in.batch.Measures() == 0 {
			until = time.Time{}
		} else if until.IsZero() {
			until = time.Now().Add(gatherFor)
		}
		_ = s.packets.SetReadDeadline(until)
		n, _, err := s.packets.ReadFrom(buffer)
		switch {
		case err == nil:
			s.decodeDatagram(buffer[:n], in)
			if in.batch.Full() {
				in.flush(s.running, false)
			}
		case errors.Is(err, os.ErrDeadlineExceeded):
			in.flush(s.running, false)
		case errors.Is(err, net.ErrClosed):
			in.flush(s.running, false)
			return
		default: // the fault of one datagram
			in.Refuse("datagram", []byte(err.Error()))
		}
	}
}

// decodeDatagram decodes each line of a datagram.
func (s *Server) decodeDatagram(data []byte, in *intake) {
	now := carbonara.FromTime(s.options.Now())
	for _, line := range plaintext.Lines(data) {
		s.options.Decoder.Decode(line, now, in)
	}
}

func (s *Server) accept() {
	for {
		conn, err := s.stream.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil { // as without descriptors
			s.refuse("connection", 1, err.Error())
			time.Sleep(100 * time.Millisecond)
			continue
		}
		s.mu.Lock()
		full := s.closed || len(s.open) >= s.options.MaxConnections && !s.endIdlest()
		if !full {
			s.open[conn] = time.Now()
		}
		s.mu.Unlock()
		if full {
			s.refuse("connections", 1, "more than "+fmt.Sprint(s.options.MaxConnections)+" at once")
			_ = conn.Close()
			continue
		}
		s.instruments.connections.Inc()
		s.done.Go(func() {
			s.read(conn)
			s.instruments.connections.Dec()
			s.mu.Lock()
			delete(s.open, conn) // first: a sender that connects again when it sees the end finds the place free
			s.mu.Unlock()
			_ = conn.Close()
		})
	}
}

// read stores the lines of a connection until it ends. Lines are durable before the server reads on.
func (s *Server) read(conn net.Conn) {
	in := s.newIntake()
	defer func() { in.flush(s.running, true) }()
	r := bufio.NewReaderSize(conn, max(s.options.MaxLineBytes, 16))
	skipping := false // the rest of a line that is too long
	for {
		if r.Buffered() == 0 && !s.awaitData(conn) {
			return
		}
		line, err := readLine(r)
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			if !skipping {
				in.Refuse("line_length", line[:100])
			}
			skipping = true
			continue
		case err != nil: // the rest of a line is no line
			if len(plaintext.Trim(line)) > 0 && !skipping {
				in.Refuse("unfinished", line)
			}
			return
		}
		if !skipping {
			line = bytes.TrimPrefix(line, plaintext.Mark)
			s.options.Decoder.Decode(line, carbonara.FromTime(s.options.Now()), in)
		}
		skipping = false
		if r.Buffered() == 0 || in.batch.Full() {
			in.flush(s.running, true)
		}
	}
}

// readLine returns the next line with the first character of its end, or with an error what there is. It is valid until
// the next one.
func readLine(r *bufio.Reader) ([]byte, error) {
	var err error
	for {
		line, _ := r.Peek(r.Buffered())
		end := plaintext.End(line)
		if end < len(line) {
			line, err = line[:end+1], nil
		} else if err == nil {
			_, err = r.Peek(len(line) + 1) // reads more
			continue
		}
		_, _ = r.Discard(len(line)) // they are there
		return line, err
	}
}

// endIdlest ends the connection that is idle for longest, and reports whether one was idle for long. mu is held.
func (s *Server) endIdlest() bool {
	var idlest net.Conn
	for conn, since := range s.open {
		if idlest == nil || since.Before(s.open[idlest]) {
			idlest = conn
		}
	}
	if idlest == nil || time.Since(s.open[idlest]) < idleInFull {
		return false
	}
	delete(s.open, idlest)
	return idlest.SetReadDeadline(time.Unix(1, 0)) == nil // its reader stores what it has, and closes it
}

// awaitData lets a connection be idle for idleTimeout from now. It reports whether the server and the connection go on.
func (s *Server) awaitData(conn net.Conn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.open[conn]; !ok || s.closed {
		return false
	}
	s.open[conn] = time.Now()
	return conn.SetReadDeadline(time.Now().Add(idleTimeout)) == nil
}
