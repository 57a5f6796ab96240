package peer

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
)

// TLSFiles are files in PEM for mutual TLS between processes: all or none.
type TLSFiles struct {
	Certificate string
	Key         string // of the certificate
	Authority   string // that signed the certificates of the others
}

// Validate returns an error if some files are named and others are not.
func (f TLSFiles) Validate() error {
	if given := f.Certificate != ""; given != (f.Key != "") || given != (f.Authority != "") {
		return errors.New("peer: TLS between processes needs a certificate, its key and an authority")
	}
	return nil
}

// Config returns the configuration by which processes know each other, nil for none.
func (f TLSFiles) Config() (*tls.Config, error) {
	if f.Certificate == "" {
		return nil, nil
	}
	certificate, err := tls.LoadX509KeyPair(f.Certificate, f.Key)
	if err != nil {
		return nil, fmt.Errorf("peer: certificate for other processes: %w", err)
	}
	text, err := os.ReadFile(f.Authority)
	if err != nil {
		return nil, fmt.Errorf("peer: authority for other processes: %w", err)
	}
	authority := x509.NewCertPool()
	if !authority.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("peer: %s holds no certificate", f.Authority)
	}
	return &tls.Config{Certificates: []tls.Certificate{certificate}, RootCAs: authority, ClientCAs: authority,
		ClientAuth: tls.RequireAndVerifyClientCert, MinVersion: tls.VersionTLS13}, nil
}
