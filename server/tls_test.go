package server_test

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gnocco-db/gnocco/cluster"
	"github.com/gnocco-db/gnocco/cluster/peer"
	"github.com/gnocco-db/gnocco/server"
	"github.com/gnocco-db/gnocco/tests/fatal"
	"github.com/gnocco-db/gnocco/tests/testcert"
)

// tlsClient trusts a certificate, and shows one of its own if cert is not "". Each request gets a connection of its
// own.
func tlsClient(t *testing.T, authority, cert, key string, version uint16) *http.Client {
	t.Helper()
	text, err := os.ReadFile(authority)
	fatal.If(t, err)
	config := &tls.Config{RootCAs: x509.NewCertPool(), MaxVersion: version, MinVersion: tls.VersionTLS10}
	config.RootCAs.AppendCertsFromPEM(text)
	if cert != "" {
		pair, err := tls.LoadX509KeyPair(cert, key)
		fatal.If(t, err)
		config.Certificates = []tls.Certificate{pair}
	}
	return &http.Client{Timeout: 2 * time.Minute, Transport: &http.Transport{TLSClientConfig: config,
		ForceAttemptHTTP2: true, DisableKeepAlives: true}}
}

// safeBuffer is a log that is read while it is written.
type safeBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *safeBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *safeBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

// The public port speaks TLS 1.2 at least, and HTTP/2, by a certificate that is read again when it changes. One that
// cannot be read changes nothing.
func TestTLS(t *testing.T) {
	cert, key := testcert.SelfSigned(t)
	newCert, newKey := testcert.SelfSigned(t)
	log := new(safeBuffer)
	s := start(t, server.Options{Cluster: cluster.Options{Data: filepath.Join(t.TempDir(), "data"), Sacks: 2},
		TLS: server.TLS{Certificate: cert, Key: key}, Logger: slog.New(slog.NewTextHandler(log, nil))})
	defer stop(t, s)
	if !strings.HasPrefix(s.URL(), "https://") {
		t.Errorf("URL %s", s.URL())
	}
	get := func(c *http.Client) (*http.Response, string, error) {
		answer, err := c.Get(s.URL() + "/")
		if err != nil {
			return nil, "", err
		}
		defer answer.Body.Close()
		body, err := io.ReadAll(answer.Body)
		return answer, string(body), err
	}
	old := tlsClient(t, cert, "", "", 0)
	answer, body, err := get(old)
	if err != nil || answer.ProtoMajor != 2 || answer.TLS.Version != tls.VersionTLS13 ||
		!strings.Contains(body, s.URL()+"/v1") {
		t.Fatalf("%v, %v: %s", answer, err, body)
	}
	if answer, _, err := get(tlsClient(t, cert, "", "", tls.VersionTLS12)); err != nil ||
		answer.TLS.Version != tls.VersionTLS12 {
		t.Errorf("TLS 1.2: %v", err)
	}
	if _, _, err := get(tlsClient(t, cert, "", "", tls.VersionTLS11)); err == nil ||
		!strings.Contains(err.Error(), "protocol version") {
		t.Errorf("TLS 1.1: %v", err)
	}
	if answer, err := http.Get("http" + strings.TrimPrefix(s.URL(), "https")); err != nil ||
		answer.StatusCode != http.StatusBadRequest {
		t.Errorf("in clear: %v, %v", answer, err)
	}
	figures, err := old.Get(s.URL() + "/metrics")
	fatal.If(t, err)
	text, err := io.ReadAll(figures.Body)
	figures.Body.Close()
	if err != nil || !strings.Contains(string(text), `gnocco_tls_certificate_expiry_timestamp_seconds{to="clients"} 1.`) {
		t.Errorf("no expiry: %v", err)
	}

	copyTo := func(from, to string) {
		t.Helper()
		text, err := os.ReadFile(from)
		if err == nil {
			err = os.WriteFile(to+".new", text, 0o600)
		}
		if err == nil {
			err = os.Rename(to+".new", to)
		}
		fatal.If(t, err)
	}
	await := func(what string, is func() bool) {
		t.Helper()
		for deadline := time.Now().Add(2 * time.Minute); !is(); time.Sleep(50 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("never %s: %s", what, log)
			}
		}
	}
	oldCopy := cert + ".old"
	copyTo(cert, oldCopy)
	copyTo(newCert, cert) // the key is still the old one
	await("told", func() bool {
		if _, _, err := get(old); err != nil {
			t.Fatal(err)
		}
		return strings.Contains(log.String(), "the certificate stays as it was")
	})
	copyTo(newKey, key)
	renewed := tlsClient(t, newCert, "", "", 0)
	await("renewed", func() bool { _, _, err := get(renewed); return err == nil })
	if _, _, err := get(old); err == nil {
		t.Error("the old certificate is still shown")
	}
}

// With an authority for clients only those get in whose certificate it signed.
func TestTLSOfClients(t *testing.T) {
	cert, key := testcert.SelfSigned(t)
	clientCert, clientKey := testcert.SelfSigned(t)
	s := start(t, server.Options{Cluster: cluster.Options{Data: filepath.Join(t.TempDir(), "data"), Sacks: 2},
		TLS: server.TLS{Certificate: cert, Key: key, ClientCA: clientCert}})
	defer stop(t, s)
	f := func(in bool, c *http.Client) {
		t.Helper()
		answer, err := c.Get(s.URL() + "/v1/capabilities")
		if (err == nil) != in {
			t.Errorf("%v, want in %v", err, in)
		}
		if err == nil {
			answer.Body.Close()
		}
	}
	f(true, tlsClient(t, cert, clientCert, clientKey, 0))
	f(false, tlsClient(t, cert, cert, key, 0))
	f(false, tlsClient(t, cert, "", "", 0))
}

// Files that do not fit end the start.
func TestTLSFaults(t *testing.T) {
	cert, key := testcert.SelfSigned(t)
	other, _ := testcert.SelfSigned(t)
	f := func(want string, files server.TLS) {
		t.Helper()
		o := server.Options{Cluster: cluster.Options{Data: filepath.Join(t.TempDir(), "data")},
			Listen: "127.0.0.1:0", TLS: files}
		if s, err := server.Start(t.Context(), o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
			if err == nil {
				stop(t, s)
			}
		}
	}
	f("go together", server.TLS{Certificate: cert})
	f("go together", server.TLS{Key: key})
	f("need a TLS certificate", server.TLS{ClientCA: cert})
	f("does not match", server.TLS{Certificate: other, Key: key})
	f("no such file", server.TLS{Certificate: cert, Key: key, ClientCA: cert + ".none"})
	f("holds no certificate", server.TLS{Certificate: cert, Key: key, ClientCA: key})
}

// A process that passes a request on keeps the client's scheme: links in the answer are for the client.
func TestTLSPassesOn(t *testing.T) {
	cert, key := testcert.SelfSigned(t)
	data := filepath.Join(t.TempDir(), "data")
	c := tlsClient(t, cert, "", "", 0)
	for i := range 2 { // the first one holds the index
		s := start(t, server.Options{Cluster: cluster.Options{Data: data, Role: cluster.RoleAPI, Sacks: 2},
			TLS: server.TLS{Certificate: cert, Key: key}})
		defer stop(t, s)
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL()+"/v1/metric",
			strings.NewReader(`{"archive_policy_name":"low"}`))
		fatal.If(t, err)
		r.SetBasicAuth("admin", "")
		r.Header.Set("Content-Type", "application/json")
		answer, err := c.Do(r)
		fatal.If(t, err)
		answer.Body.Close()
		if location := answer.Header.Get("Location"); answer.StatusCode != http.StatusCreated ||
			!strings.HasPrefix(location, s.URL()+"/v1/metric/") {
			t.Errorf("process %d: %s, Location %s, want %s", i, answer.Status, location, fmt.Sprint(s.URL()))
		}
	}
}

// Metrics and the status say when each certificate of a process expires. One that is gone counts as expired.
func TestCertificatesExpire(t *testing.T) {
	cert, key := testcert.SelfSigned(t)
	peerCert, peerKey := testcert.SelfSigned(t)
	s := start(t, server.Options{TLS: server.TLS{Certificate: cert, Key: key}, Cluster: cluster.Options{
		Data: filepath.Join(t.TempDir(), "data"), Sacks: 2,
		Peers: cluster.Peers{TLS: peer.TLSFiles{Certificate: peerCert, Key: peerKey, Authority: peerCert}}}})
	defer stop(t, s)
	ask := func(path string) string {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL()+path, nil)
		fatal.If(t, err)
		r.SetBasicAuth("admin", "")
		answer, err := tlsClient(t, cert, "", "", 0).Do(r)
		fatal.If(t, err)
		defer answer.Body.Close()
		body, err := io.ReadAll(answer.Body)
		fatal.If(t, err)
		return string(body)
	}
	has := func(what string, in string, want ...string) {
		t.Helper()
		for _, part := range want {
			if !strings.Contains(in, part) {
				t.Errorf("%s: no %s in %s", what, part, in)
			}
		}
	}
	const metric = "gnocco_tls_certificate_expiry_timestamp_seconds"
	has("metrics", ask("/metrics"), metric+`{to="clients"} 1.`, metric+`{to="peers"} 1.`)
	has("status", ask("/v1/status"), `"certificates": {"clients": "20`, `"peers": "20`)
	fatal.If(t, os.Remove(peerCert))
	has("without a file", ask("/metrics"), metric+`{to="clients"} 1.`, metric+`{to="peers"} 0`)
}
