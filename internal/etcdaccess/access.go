package etcdaccess

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"time"
)

// Access says where etcd is, and how a process gets in.
type Access struct {
	// URL is etcds://host:2379,host:2379/prefix, which is TLS, or etcd://…
	URL string

	// CA and the others are files in PEM, for etcds. A new connection reads the certificate again.
	CA               string // authorities that may have signed the servers' certificates; "": the system's
	Certificate, Key string // of this process, if etcd asks for one

	Login string // file with one line, user:password
	// PlainLogin allows Login by etcd://, where everyone on the way reads it.
	PlainLogin bool
}

// LeaseTTL is how long a lease by etcd lasts unless told otherwise. It is shorter than one by files: a process without
// etcd waits, and only ends if another one has taken over, which waits for the lease and the slack.
const LeaseTTL = 5 * time.Second

// IsURL reports whether a choice of coordination is etcd.
func IsURL(url string) bool {
	return strings.HasPrefix(url, "etcd://") || strings.HasPrefix(url, "etcds://")
}

// parse returns the endpoints and the prefix of the URL.
func (a *Access) parse() (endpoints []string, prefix string, err error) {
	scheme, rest, _ := strings.Cut(a.URL, "://")
	if strings.Contains(rest, "@") {
		return nil, "", errors.New("etcd: user and password belong into a file (--coordination-login): everyone on the " +
			"machine reads a command line")
	}
	hosts, prefix, _ := strings.Cut(rest, "/")
	for host := range strings.SplitSeq(hosts, ",") {
		if _, _, err := net.SplitHostPort(host); err != nil {
			return nil, "", fmt.Errorf("etcd: %q in %s is not like host:2379", host, a.URL)
		}
		if scheme == "etcds" {
			host = "https://" + host // else the client does without TLS
		}
		endpoints = append(endpoints, host)
	}
	if prefix != "" {
		prefix = "/" + prefix
	}
	return endpoints, prefix, nil
}

// Validate lists every fault at once. It reads no file.
func (a *Access) Validate() error {
	var faults []error
	if _, _, err := a.parse(); err != nil {
		faults = append(faults, err)
	}
	secured := strings.HasPrefix(a.URL, "etcds://")
	if !secured && (a.CA != "" || a.Certificate != "" || a.Key != "") {
		faults = append(faults, errors.New("etcd: certificates are for etcds://"))
	}
	if (a.Certificate == "") != (a.Key == "") {
		faults = append(faults, errors.New("etcd: a certificate needs its key, and a key its certificate"))
	}
	if !secured && a.Login != "" && !a.PlainLogin {
		faults = append(faults, errors.New("etcd: the password would cross the network in clear: use etcds://, or say "+
			"--coordination-plain-login"))
	}
	return errors.Join(faults...)
}

// Settings are what etcd's client needs to get in.
type Settings struct {
	Endpoints      []string    // host:port or URL
	Prefix         string      // of all keys, one for each data folder
	TLS            *tls.Config // nil: none
	User, Password string      // "": no authentication
}

// Read reads the files. The error names the one that is wrong.
func (a *Access) Read() (s Settings, err error) {
	if err := a.Validate(); err != nil {
		return s, err
	}
	if s.Endpoints, s.Prefix, err = a.parse(); err != nil {
		return s, err
	}
	if a.Login != "" {
		text, err := os.ReadFile(a.Login)
		if err != nil {
			return s, fmt.Errorf("etcd: login: %w", err)
		}
		var ok bool
		if s.User, s.Password, ok = strings.Cut(strings.TrimRight(string(text), "\r\n"), ":"); !ok || s.User == "" ||
			strings.Contains(s.Password, "\n") {
			return s, fmt.Errorf("etcd: %s is not one line like user:password", a.Login)
		}
	}
	if !strings.HasPrefix(a.URL, "etcds://") {
		return s, nil
	}
	s.TLS = &tls.Config{MinVersion: tls.VersionTLS12}
	if a.CA != "" {
		text, err := os.ReadFile(a.CA)
		if err != nil {
			return s, fmt.Errorf("etcd: authority: %w", err)
		}
		if s.TLS.RootCAs = x509.NewCertPool(); !s.TLS.RootCAs.AppendCertsFromPEM(text) {
			return s, fmt.Errorf("etcd: %s holds no certificate", a.CA)
		}
	}
	if a.Certificate == "" {
		return s, nil
	}
	certificate, err := a.certificate()
	if err != nil {
		return s, err
	}
	if ends := certificate.Leaf.NotAfter; time.Now().After(ends) {
		return s, fmt.Errorf("etcd: the certificate %s expired at %s", a.Certificate, ends.UTC().Format(time.RFC3339))
	}
	own := *a
	s.TLS.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
		return own.certificate()
	}
	return s, nil
}

// certificate reads the certificate of this process.
func (a *Access) certificate() (*tls.Certificate, error) {
	certificate, err := tls.LoadX509KeyPair(a.Certificate, a.Key)
	if err != nil {
		return nil, fmt.Errorf("etcd: certificate: %w", err)
	}
	return &certificate, nil
}

// Expires returns when the certificate of this process expires, the zero time without one.
func (a *Access) Expires() time.Time {
	if a.Certificate == "" {
		return time.Time{}
	}
	certificate, err := a.certificate()
	if err != nil {
		return time.Time{}
	}
	return certificate.Leaf.NotAfter
}
