package main

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strconv"
	"strings"
)

// mariaDBTLS returns what the options ssl_… of an address say, as SQLAlchemy and PyMySQL understand them. With ssl_ca,
// the server's certificate has to be signed by it and, unless ssl_check_hostname is false, to name the host. Without
// ssl_ca nothing is verified. It returns nil where there is no such option.
func mariaDBTLS(host string, options url.Values) (*tls.Config, error) {
	config, wanted, checkHost := &tls.Config{ServerName: host, InsecureSkipVerify: true}, false, true
	for option := range options {
		if !strings.HasPrefix(option, "ssl") {
			continue
		}
		wanted = true
		value := options.Get(option)
		switch option {
		case "ssl_ca":
			text, err := os.ReadFile(value)
			if err != nil {
				return nil, fmt.Errorf("the database's option ssl_ca: %w", err)
			}
			config.RootCAs = x509.NewCertPool()
			if !config.RootCAs.AppendCertsFromPEM(text) {
				return nil, fmt.Errorf("the database's option ssl_ca: %s holds no certificate", value)
			}
		case "ssl_check_hostname":
			var err error
			if checkHost, err = strconv.ParseBool(value); err != nil {
				return nil, fmt.Errorf("the database's option ssl_check_hostname is neither true nor false: %q", value)
			}
		case "ssl_cert":
			certificate, err := tls.LoadX509KeyPair(value, options.Get("ssl_key"))
			if err != nil {
				return nil, fmt.Errorf("the database's options ssl_cert and ssl_key: %w", err)
			}
			config.Certificates = []tls.Certificate{certificate}
		case "ssl_key":
			if !options.Has("ssl_cert") {
				return nil, errors.New("the database's option ssl_key is of no use without ssl_cert")
			}
		default:
			return nil, fmt.Errorf("the database's option %s is not supported: use --from", option)
		}
	}
	if !wanted {
		return nil, nil
	}
	if config.RootCAs != nil {
		config.InsecureSkipVerify = !checkHost
		if !checkHost {
			config.VerifyConnection = signedBy(config.RootCAs)
		}
	}
	return config, nil
}

// signedBy returns a check that a server's certificate is signed by one of roots, for any host name.
func signedBy(roots *x509.CertPool) func(tls.ConnectionState) error {
	return func(state tls.ConnectionState) error {
		between := x509.NewCertPool()
		for _, c := range state.PeerCertificates[1:] {
			between.AddCert(c)
		}
		_, err := state.PeerCertificates[0].Verify(x509.VerifyOptions{Roots: roots, Intermediates: between})
		return err
	}
}
