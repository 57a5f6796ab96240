package server

import (
	"bytes"
	"log/slog"
	"net"
	"strings"
	"testing"

	"github.com/gnocco-db/gnocco/api/auth"
)

// A mode that believes everyone is warned of beyond loopback, and there only; so is any mode without TLS.
func TestWarnOfExposure(t *testing.T) {
	f := func(warned bool, ip string, auth auth.Options) {
		t.Helper()
		for _, certificate := range []string{"", "server.pem"} {
			var log bytes.Buffer
			o := Options{Auth: auth, Logger: slog.New(slog.NewTextHandler(&log, nil)),
				TLS: TLS{Certificate: certificate, Key: certificate}}
			address := &net.TCPAddr{IP: net.ParseIP(ip), Port: 8041}
			o.warnOfExposure(address)
			want := 0
			if warned {
				want++
			}
			inClear := certificate == "" && !address.IP.IsLoopback()
			if inClear {
				want++
			}
			if strings.Count(log.String(), "level=WARN") != want ||
				strings.Contains(log.String(), "without TLS") != inClear {
				t.Errorf("%s in mode %q, certificate %q: want %d warnings: %s", ip, auth.Mode, certificate,
					want, log.String())
			}
		}
	}
	f(false, "127.0.0.1", auth.Options{})
	f(false, "::1", auth.Options{})
	f(true, "::", auth.Options{})
	f(true, "0.0.0.0", auth.Options{Mode: "basic"})
	f(true, "192.0.2.1", auth.Options{Mode: "keystone"})
	f(true, "192.0.2.1", auth.Options{Mode: "remoteuser"})
	f(false, "192.0.2.1", auth.Options{Mode: "keystone", KeystoneURL: "http://127.0.0.1:5000"})
	f(false, "192.0.2.1", auth.Options{Mode: "htpasswd", HtpasswdFile: "users"})
}
