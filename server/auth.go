package server

import (
	"fmt"
	"net"
	"os"
	"time"

	"github.com/gnocco-db/gnocco/api/auth"
	"github.com/gnocco-db/gnocco/api/policy"
)

// auth returns the authenticator of users, whose sessions are sealed with a secret, and the rules of their rights.
func (o *Options) auth(secret []byte) (auth.Authenticator, *policy.Rules, error) {
	o.Auth.ProxyHeaders = o.API.ProxyHeaders
	authenticator, err := o.Auth.New(o.Logger)
	if err != nil {
		return nil, nil, err
	}
	if authenticator, err = auth.NewSessions(authenticator, secret, time.Now); err != nil {
		return nil, nil, err
	}
	if o.PolicyFile == "" {
		return authenticator, policy.Default(), nil
	}
	text, err := os.ReadFile(o.PolicyFile)
	if err != nil {
		return nil, nil, fmt.Errorf("server: policy file: %w", err)
	}
	rules, err := policy.Parse(text)
	if err != nil {
		return nil, nil, fmt.Errorf("server: policy file %s: %w", o.PolicyFile, err)
	}
	return authenticator, rules, nil
}

// warnOfExposure warns, if requests come from other machines, of secrets sent in clear and of a mode that believes the
// user name in a request.
func (o *Options) warnOfExposure(address net.Addr) {
	tcp, ok := address.(*net.TCPAddr)
	if !ok || tcp.IP.IsLoopback() {
		return
	}
	if o.TLS.Certificate == "" {
		o.Logger.Warn("without TLS whoever listens in on the network reads passwords, tokens and measures: "+
			"use --tls-cert and --tls-key, or listen on a loopback address behind a proxy that speaks TLS",
			"address", address.String())
	}
	switch mode := o.Auth.Mode; {
	case mode == "" || mode == "basic":
		o.Logger.Warn("mode basic checks no passwords: whoever reaches this address can be anyone, admin included; "+
			"use mode htpasswd, or a proxy that checks", "address", address.String())
	case mode == "remoteuser", mode == "keystone" && o.Auth.KeystoneURL == "":
		o.Logger.Warn("headers name the user of a request: let none but the proxy that sets them reach this address",
			"mode", mode, "address", address.String())
	}
}
