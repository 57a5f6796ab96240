package server

import (
	"crypto/tls"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// expiries are when the certificates that a process shows expire, by whom it shows them to.
type expiries map[string]func() (time.Time, error)

// newExpiries returns those of a process: its files, as they are when they are asked for. public is nil without TLS.
func newExpiries(o *Options, public *certificates) expiries {
	all := expiries{}
	if public != nil {
		all["clients"] = func() (time.Time, error) {
			public.mu.Lock()
			defer public.mu.Unlock()
			return public.expires, nil
		}
	}
	peers, etcd := o.Cluster.Peers.TLS, o.Cluster.Etcd
	for to, files := range map[string][2]string{"peers": {peers.Certificate, peers.Key}, "etcd": {etcd.Certificate, etcd.Key}} {
		if files[0] == "" {
			continue
		}
		all[to] = func() (time.Time, error) {
			pair, err := tls.LoadX509KeyPair(files[0], files[1])
			if err != nil {
				return time.Time{}, err
			}
			return pair.Leaf.NotAfter, nil
		}
	}
	return all
}

// register makes a metric of each. A file that cannot be read is 0: long expired.
func (e expiries) register(registry *prometheus.Registry) {
	for to, expires := range e {
		registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name:        "gnocco_tls_certificate_expiry_timestamp_seconds",
			Help:        "When the certificate that is shown to clients, peers or etcd expires, in seconds since 1970.",
			ConstLabels: prometheus.Labels{"to": to},
		}, func() float64 {
			at, err := expires()
			if err != nil {
				return 0
			}
			return float64(at.Unix())
		}))
	}
}

// read returns those that can be read.
func (e expiries) read() map[string]time.Time {
	found := make(map[string]time.Time, len(e))
	for to, expires := range e {
		if at, err := expires(); err == nil {
			found[to] = at.UTC()
		}
	}
	return found
}
