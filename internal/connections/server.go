package connections

import (
	"context"
	"errors"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// unusedFor is how long a connection may take to its first request when its server ends. The request may be on its way.
// http.Server.Shutdown waits 5 s for it.
const unusedFor = 200 * time.Millisecond

// Server is an http.Server that ends soon.
type Server struct {
	*http.Server

	someUnused atomic.Bool // unused is not empty: most requests find that it is, and take no lock
	mu         sync.Mutex
	unused     map[net.Conn]bool // without a request so far
}

// NewServer returns a server that ends soon. The server is not serving yet.
func NewServer(server *http.Server) *Server {
	s := &Server{Server: server, unused: make(map[net.Conn]bool)}
	others := server.ConnState
	server.ConnState = func(connection net.Conn, state http.ConnState) {
		if others != nil {
			others(connection, state)
		}
		if state != http.StateNew && !s.someUnused.Load() {
			return
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		if state == http.StateNew {
			s.unused[connection] = true
		} else {
			delete(s.unused, connection)
		}
		s.someUnused.Store(len(s.unused) > 0)
	}
	return s
}

// End takes no more connections, and waits for the requests in hand. When ctx ends before, they are cut off.
func (s *Server) End(ctx context.Context) error {
	defer time.AfterFunc(unusedFor, s.closeUnused).Stop()
	err := s.Shutdown(ctx)
	if err != nil {
		err = errors.Join(err, s.Close())
	}
	return err
}

func (s *Server) closeUnused() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for connection := range s.unused {
		_ = connection.Close()
	}
}
