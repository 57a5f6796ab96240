package auth

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"net/textproto"
	"slices"
	"strings"
)

// modes are the values of Options.Mode.
var modes = []string{"basic", "remoteuser", "keystone", "htpasswd"}

// Options choose an Authenticator. The zero value is mode basic.
type Options struct {
	Mode             string // "": basic
	RemoteUserHeader string // of mode remoteuser; "": X-Remote-User
	KeystoneURL      string // of mode keystone: where tokens are validated; "": trust the headers of a proxy
	KeystoneAccount  KeystoneAccount
	KeystoneCAFile   string // PEM certificates of the authority of Keystone's own; "": the system's
	HtpasswdFile     string // of mode htpasswd
	ProxyHeaders     bool   // believe headers of proxies about a client's address
}

const defaultRemoteUserHeader = "X-Remote-User"

// Validate lists every fault at once.
func (o *Options) Validate() error {
	var faults []error
	refuse := func(bad bool, format string, args ...any) {
		if bad {
			faults = append(faults, fmt.Errorf("auth: "+format, args...))
		}
	}
	refuse(o.Mode != "" && !slices.Contains(modes, o.Mode),
		"authentication mode %q is none of %s", o.Mode, strings.Join(modes, ", "))
	refuse(o.RemoteUserHeader != "" && o.Mode != "remoteuser",
		"a header of the remote user goes with mode remoteuser only")
	refuse(o.KeystoneURL != "" && o.Mode != "keystone", "a Keystone URL goes with mode keystone only")
	refuse(o.KeystoneURL == "" && o.KeystoneAccount != (KeystoneAccount{}),
		"a Keystone account goes with a Keystone URL only")
	refuse(o.KeystoneURL == "" && o.KeystoneCAFile != "", "Keystone's authority goes with a Keystone URL only")
	faults = append(faults, o.KeystoneAccount.Validate())
	refuse((o.HtpasswdFile != "") != (o.Mode == "htpasswd"),
		"a password file goes with mode htpasswd, and mode htpasswd needs one")
	return errors.Join(faults...)
}

// New returns the Authenticator that the options choose.
func (o *Options) New(logger *slog.Logger) (Authenticator, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	switch o.Mode {
	case "remoteuser":
		header := cmp.Or(o.RemoteUserHeader, defaultRemoteUserHeader)
		return RemoteUser{Header: textproto.CanonicalMIMEHeaderKey(header)}, nil
	case "keystone":
		if o.KeystoneURL == "" {
			return TrustedHeaders{}, nil
		}
		return NewKeystone(KeystoneOptions{URL: o.KeystoneURL, CAFile: o.KeystoneCAFile, Account: o.KeystoneAccount})
	case "htpasswd":
		return NewHtpasswd(HtpasswdOptions{File: o.HtpasswdFile, Logger: logger, ProxyHeaders: o.ProxyHeaders})
	}
	return Basic{}, nil
}
