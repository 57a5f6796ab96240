package etcd

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"gnocco/storage/claim"
)

const (
	defaultPrefix  = "/gnocco/"
	defaultTimeout = 5 * time.Second
)

// Options of a Coordinator. Endpoints are needed.
type Options struct {
	claim.Options // Poll is not used

	Endpoints []string      // host:port or URL
	Prefix    string        // of all keys, one for each data folder; "": /gnocco/
	Timeout   time.Duration // of a request; 0: 5 s
	TLS       *tls.Config   // nil: none
	User      string        // "": no authentication
	Password  string
}

// EnsureDefaults fills in what is not set.
func (o *Options) EnsureDefaults() {
	o.Options.EnsureDefaults()
	if o.Prefix == "" {
		o.Prefix = defaultPrefix
	}
	if !strings.HasSuffix(o.Prefix, "/") {
		o.Prefix += "/"
	}
	if o.Timeout == 0 {
		o.Timeout = defaultTimeout
	}
}

// Validate lists every fault at once.
func (o *Options) Validate() error {
	faults := []error{o.Options.Validate()}
	if len(o.Endpoints) == 0 {
		faults = append(faults, errors.New("claim: no etcd endpoint"))
	}
	if o.Timeout < 0 {
		faults = append(faults, fmt.Errorf("claim: timeout of etcd is %s, negative", o.Timeout))
	}
	return errors.Join(faults...)
}

// ParseURL reads etcd://host:port,host:port/prefix into endpoints and prefix; etcds:// stands for TLS, which the caller configures.
func ParseURL(text string) (endpoints []string, prefix string, secure bool, err error) {
	scheme, rest, _ := strings.Cut(text, "://")
	if scheme != "etcd" && scheme != "etcds" {
		return nil, "", false, fmt.Errorf("claim: %q does not begin with etcd:// or etcds://", text)
	}
	hosts, path, found := strings.Cut(rest, "/")
	if found && path != "" {
		prefix = "/" + path
	}
	for host := range strings.SplitSeq(hosts, ",") {
		if u, err := url.Parse("http://" + host); err != nil || u.Hostname() == "" || u.Host != host {
			return nil, "", false, fmt.Errorf("claim: %q has the endpoint %q, which is no host and port", text, host)
		}
		endpoints = append(endpoints, host)
	}
	return endpoints, prefix, scheme == "etcds", nil
}
