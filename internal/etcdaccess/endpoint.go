package etcdaccess

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"sync"
	"time"
)

// Endpoint is what one member of etcd says of itself.
type Endpoint struct {
	Address string
	Version string
	Leader  bool          // it knows a leader: a majority runs
	Alarms  []string      // such as NOSPACE
	Bytes   int64         // of its database
	Took    time.Duration // to answer
	Err     error         // it could not be asked
}

// Note notes what a member says is wrong with it. A missing leader is Leader.
func (e *Endpoint) Note(faults []string) {
	for _, text := range faults {
		if strings.Contains(text, "NOSPACE") || strings.Contains(text, "CORRUPT") {
			e.Alarms = append(e.Alarms, text)
		}
	}
}

// Fault says what is wrong with the member, "" if nothing is.
func (e *Endpoint) Fault() string {
	switch {
	case e.Err != nil:
		return e.Err.Error()
	case len(e.Alarms) > 0:
		return fmt.Sprintf("alarm %s: nothing can be claimed; compact and defragment etcd, and disarm the alarm",
			strings.Join(e.Alarms, ", "))
	case !e.Leader:
		return "knows no leader: less than a majority of etcd's members run or reach each other"
	}
	return ""
}

// Probe asks all endpoints, each of which ask fills in: it connects as etcd's client does.
func (s *Settings) Probe(ctx context.Context, timeout time.Duration,
	ask func(ctx context.Context, endpoint string, e *Endpoint) error) []Endpoint {
	found := make([]Endpoint, len(s.Endpoints))
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	var all sync.WaitGroup
	for i, endpoint := range s.Endpoints {
		all.Go(func() {
			e := &found[i]
			e.Address = strings.TrimPrefix(endpoint, "https://")
			if e.Err = s.handshake(ctx, e.Address); e.Err == nil {
				began := time.Now()
				e.Err = ask(ctx, endpoint, e)
				e.Took = time.Since(began)
			}
		})
	}
	all.Wait()
	return found
}

// Explain adds to an error what is wrong with endpoints, if that was to be found out.
func Explain(err error, endpoints []Endpoint) error {
	all := []error{err}
	for _, e := range endpoints {
		if fault := e.Fault(); fault != "" {
			all = append(all, fmt.Errorf("etcd at %s: %s", e.Address, fault))
		}
	}
	return errors.Join(all...)
}

// handshake connects to an endpoint, and returns in plain words why that fails: etcd's client says only that time is
// over. The context has a deadline.
func (s *Settings) handshake(ctx context.Context, address string) error {
	connection, err := new(net.Dialer).DialContext(ctx, "tcp", address)
	if err != nil {
		return err
	}
	defer connection.Close()
	deadline, _ := ctx.Deadline()
	if err := connection.SetDeadline(deadline); err != nil || s.TLS == nil {
		return err
	}
	config := s.TLS.Clone()
	config.ServerName, _, _ = net.SplitHostPort(address)
	config.NextProtos = []string{"h2"}
	secured := tls.Client(connection, config)
	if err := secured.HandshakeContext(ctx); err != nil {
		return fmt.Errorf("TLS: %w", err)
	}
	// A server of TLS 1.3 refuses a client's certificate after the handshake. Else it speaks first.
	if _, err := secured.Read(make([]byte, 1)); err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
		return fmt.Errorf("TLS: it refuses this process's certificate, or the lack of one: %w", err)
	}
	return nil
}
