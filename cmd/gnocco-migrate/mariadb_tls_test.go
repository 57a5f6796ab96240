package main

import (
	"crypto/tls"
	"io"
	"net/url"
	"path/filepath"
	"testing"

	"github.com/gnocco-db/gnocco/tests/fatal"
	"github.com/gnocco-db/gnocco/tests/testcert"
)

// The client trusts whom PyMySQL would trust with the same ssl_ca and ssl_check_hostname, and refuses options that it
// does not know.
func TestMariaDBTLS(t *testing.T) {
	certificate, key := testcert.SelfSigned(t)
	other, _ := testcert.SelfSigned(t)
	pair, err := tls.LoadX509KeyPair(certificate, key)
	fatal.If(t, err)
	listener, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{pair}})
	fatal.If(t, err)
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
