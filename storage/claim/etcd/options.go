package etcd

import (
	"cmp"
	"crypto/tls"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/gnocco-db/gnocco/storage/claim"
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
	o.Prefix = cmp.Or(o.Prefix, defaultPrefix)
	if !strings.HasSuffix(o.Prefix, "/") {
		o.Prefix += "/"
	}
	o.Timeout = cmp.Or(o.Timeout, defaultTimeout)
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
