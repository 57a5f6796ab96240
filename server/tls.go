package server

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"os"
	"sync"
	"time"
)

// TLS names the files by which the public port speaks TLS; all "" for none. They are read again when they change.
type TLS struct {
	Certificate string // PEM, with the intermediate ones
	Key         string
	ClientCA    string // PEM of the authority of clients' certificates, which are then required; "": not required
}

// Validate reports what is missing.
func (o *TLS) Validate() error {
	if (o.Certificate == "") != (o.Key == "") {
		return errors.New("server: a TLS certificate and its key go together")
	}
	if o.ClientCA != "" && o.Certificate == "" {
		return errors.New("server: certificates of clients need a TLS certificate of the server")
	}
	return nil
}

// certificates are the files of a TLS as they were read last.
type certificates struct {
	files  TLS
	logger *slog.Logger

	mu      sync.Mutex
	config  *tls.Config // replaced, not modified
	expires time.Time
	checked time.Time
	seen    [3]os.FileInfo // nil for a file that could not be looked at
}

// certificatesInterval is how often the files are looked at, when somebody connects.
const certificatesInterval = time.Second

// newCertificates reads the files.
func newCertificates(files TLS, logger *slog.Logger) (*certificates, error) {
	c := &certificates{files: files, logger: logger, checked: time.Now()}
	c.changed()
	if err := c.read(); err != nil {
		return nil, err
	}
	return c, nil
}

// current returns the configuration of the files as they are. It keeps the former one if a file cannot be read.
func (c *certificates) current() *tls.Config {
	c.mu.Lock()
	defer c.mu.Unlock()
	if now := time.Now(); now.Sub(c.checked) >= certificatesInterval {
		c.checked = now
		if c.changed() {
			if err := c.read(); err != nil { // told once: files change one after the other
				c.logger.Error("the TLS files cannot be read: the certificate stays as it was", "error", err)
			} else {
				c.logger.Info("TLS certificate read", "file", c.files.Certificate, "expires", c.expires)
			}
		}
	}
	return c.config
}

// changed reports whether a file is another one than at the last call.
func (c *certificates) changed() bool {
	changed := false
	for i, name := range []string{c.files.Certificate, c.files.Key, c.files.ClientCA} {
		info, err := os.Stat(name)
		if err != nil {
			info = nil
		}
		before := c.seen[i]
		if !isUnchanged(before, info) {
			changed = true
		}
		c.seen[i] = info
	}
	return changed
}

// isUnchanged reports whether a file is what it was; nil stands for one that is not there.
func isUnchanged(before, now fs.FileInfo) bool {
	if before == nil || now == nil {
		return before == nil && now == nil
	}
	return now.ModTime().Equal(before.ModTime()) && now.Size() == before.Size() && os.SameFile(now, before)
}

func (c *certificates) read() error {
	pair, err := tls.LoadX509KeyPair(c.files.Certificate, c.files.Key)
	if err != nil {
		return fmt.Errorf("server: TLS certificate: %w", err)
	}
	config := &tls.Config{
		Certificates: []tls.Certificate{pair},
		MinVersion:   tls.VersionTLS12,
		NextProtos:   []string{"h2", "http/1.1"},
	}
	if c.files.ClientCA != "" {
		text, err := os.ReadFile(c.files.ClientCA)
		if err != nil {
			return fmt.Errorf("server: authority of clients: %w", err)
		}
		config.ClientAuth, config.ClientCAs = tls.RequireAndVerifyClientCert, x509.NewCertPool()
		if !config.ClientCAs.AppendCertsFromPEM(text) {
			return fmt.Errorf("server: authority of clients: %s holds no certificate", c.files.ClientCA)
		}
	}
	c.config, c.expires = config, pair.Leaf.NotAfter
	return nil
}

// maxStreams is how many requests a connection by HTTP/2 may have at once.
const maxStreams = 100

// secure makes a server speak TLS, with each new connection's configuration from the files.
func (c *certificates) secure(s *http.Server) {
	current := func(*tls.ClientHelloInfo) (*tls.Config, error) { return c.current(), nil }
	s.TLSConfig = &tls.Config{GetConfigForClient: current}
	s.HTTP2 = &http.HTTP2Config{MaxConcurrentStreams: maxStreams}
}

// serveOn answers the connections of a listener until the server is closed, by TLS if the server is secured.
func serveOn(s *http.Server, listener net.Listener) error {
	if s.TLSConfig == nil {
		return s.Serve(listener)
	}
	return s.ServeTLS(listener, "", "")
}
