package server

import (
	"fmt"
	"net"
	"os"

	"gnocco/api"
	"gnocco/api/policy"
)

// auth returns how users are authenticated and the rules of what they may do.
func (o *Options) auth() (api.Authenticator, *policy.Rules, error) {
	authenticator, err := o.Auth.New(o.Logger)
	if err != nil {
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

// warnOfBelief tells of modes that believe who a request says it is from, where requests come from other machines.
func (o *Options) warnOfBelief(address net.Addr) {
	tcp, ok := address.(*net.TCPAddr)
	if !ok || tcp.IP.IsLoopback() {
		return
	}
	switch mode := o.Auth.Mode; {
	case mode == "" || mode == "basic":
		o.Logger.Warn("mode basic checks no passwords: whoever reaches this address can be anyone, admin included; use mode htpasswd, "+
			"or a proxy that checks", "address", address.String())
	case mode == "remoteuser", mode == "keystone" && o.Auth.KeystoneURL == "":
		o.Logger.Warn("who sends a request is told by its headers: let none but the proxy that sets them reach this address",
			"mode", mode, "address", address.String())
	}
}
