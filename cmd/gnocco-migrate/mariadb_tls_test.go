package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"math/big"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// The options of TLS mean what they mean to PyMySQL: who is trusted is what ssl_ca and ssl_check_hostname say.
func TestMariaDBTLS(t *testing.T) {
	certificate, key := selfSigned(t, t.TempDir())
	other, _ := selfSigned(t, t.TempDir())
	pair, err := tls.LoadX509KeyPair(certificate, key)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{pair}})
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	go func() {
		for {
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			go func() { _, _ = io.Copy(io.Discard, connection) }() // until the client is gone
		}
	}()
	for _, c := range []struct {
		host    string
		options url.Values
		trusted bool
	}{
		{"127.0.0.1", url.Values{"ssl_ca": {certificate}}, true},
		{"127.0.0.1", url.Values{"ssl_ca": {other}}, false},
		{"db.example", url.Values{"ssl_ca": {certificate}}, false},
		{"db.example", url.Values{"ssl_ca": {certificate}, "ssl_check_hostname": {"false"}}, true},
		{"db.example", url.Values{"ssl_ca": {other}, "ssl_check_hostname": {"false"}}, false},
		{"db.example", url.Values{"ssl_cert": {certificate}, "ssl_key": {key}}, true},
	} {
		config, err := mariaDBTLS(c.host, c.options)
		if err != nil {
			t.Fatal(c.options, err)
		}
		connection, err := tls.Dial("tcp", listener.Addr().String(), config)
		if (err == nil) != c.trusted {
			t.Errorf("%s, %v: trusted %v, %v", c.host, c.options, err == nil, err)
		}
		if err == nil {
			_ = connection.Close()
		}
	}
	for _, options := range []url.Values{
		{"ssl_ca": {filepath.Join(t.TempDir(), "none.pem")}},
		{"ssl_ca": {key}},
		{"ssl_cert": {certificate}},
		{"ssl_key": {key}},
		{"ssl_check_hostname": {"perhaps"}},
		{"ssl_cipher": {"x"}},
		{"ssl_capath": {"/etc/ssl/certs"}},
	} {
		if _, err := mariaDBTLS("db.example", options); err == nil {
			t.Errorf("%v: no error", options)
		}
	}
	if config, err := mariaDBTLS("db.example", url.Values{"charset": {"utf8"}}); config != nil || err != nil {
		t.Errorf("without an option of TLS: %v, %v", config, err)
	}
}

// selfSigned writes a certificate for 127.0.0.1, which signs itself, and its key into dir.
func selfSigned(t *testing.T, dir string) (certificate, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "mariadb"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour), IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature}
	signed, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	if err != nil {
		t.Fatal(err)
	}
	encoded, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	certificate, key = filepath.Join(dir, "mariadb.crt"), filepath.Join(dir, "mariadb.key")
	for path, block := range map[string]*pem.Block{certificate: {Type: "CERTIFICATE", Bytes: signed}, key: {Type: "PRIVATE KEY", Bytes: encoded}} {
		if err := os.WriteFile(path, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return certificate, key
}
