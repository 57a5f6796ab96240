package server

import (
	"bytes"
	"log/slog"
	"net"
	"strings"
	"testing"

	"gnocco/api"
)

// A mode that believes everyone is warned of beyond loopback, and there only.
func TestWarnOfBelief(t *testing.T) {
	f := func(warned bool, ip string, auth api.AuthOptions) {
		t.Helper()
		var log bytes.Buffer
		o := Options{Auth: auth, Logger: slog.New(slog.NewTextHandler(&log, nil))}
		o.warnOfBelief(&net.TCPAddr{IP: net.ParseIP(ip), Port: 8041})
		if got := strings.Contains(log.String(), "level=WARN"); got != warned {
			t.Errorf("%s in mode %q: warned %v: %s", ip, auth.Mode, got, log.String())
		}
	}
	f(false, "127.0.0.1", api.AuthOptions{})
	f(false, "::1", api.AuthOptions{})
	f(true, "::", api.AuthOptions{})
	f(true, "0.0.0.0", api.AuthOptions{Mode: "basic"})
	f(true, "192.0.2.1", api.AuthOptions{Mode: "keystone"})
	f(true, "192.0.2.1", api.AuthOptions{Mode: "remoteuser"})
	f(false, "192.0.2.1", api.AuthOptions{Mode: "keystone", KeystoneURL: "http://127.0.0.1:5000"})
	f(false, "192.0.2.1", api.AuthOptions{Mode: "htpasswd", HtpasswdFile: "users"})
}
