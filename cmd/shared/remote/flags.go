package remote

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"strings"
	"syscall"

	"github.com/spf13/pflag"

	"github.com/gnocco-db/gnocco/internal/client"
	"github.com/gnocco-db/gnocco/internal/keystone"
)

// DefaultURL is where a server listens unless told otherwise.
const DefaultURL = "http://127.0.0.1:8041"

// Flags say which server a command asks, and who asks.
type Flags struct {
	URL                          string
	user, password, passwordFile string
	token, caFile                string
}

// Define defines them. about says what the address is for.
func (r *Flags) Define(f *pflag.FlagSet, url, about string) {
	f.StringVar(&r.URL, "url", url, about+"; may name a user, as https://USER:PASSWORD@HOST")
	f.StringVar(&r.user, "user", "",
		"user who asks the server (default: the one of OS_AUTH_URL and the other OS_* variables, else admin)")
	f.StringVar(&r.passwordFile, "password-file", "", "file that holds the user's password (default: GNOCCO_PASSWORD)")
	// For the environment and the configuration file: a command line can be read by other users of the machine.
	f.StringVar(&r.password, "password", "", "that user's password")
	_ = f.MarkHidden("password")
	f.StringVar(&r.token, "token", "",
		"Keystone token, instead of a user; GNOCCO_TOKEN keeps it out of the command line")
	f.StringVar(&r.caFile, "ca-file", "", "PEM certificates to trust besides the system's, for https")
}

// Client returns a client of the server. It sends no request yet.
func (r *Flags) Client() (*client.Client, error) {
	options := client.Options{Token: r.token, User: r.user, Password: r.password}
	caFile := r.caFile
	if r.passwordFile != "" {
		password, err := os.ReadFile(r.passwordFile)
		if err != nil {
			return nil, fmt.Errorf("--password-file: %w", err)
		}
		options.Password = strings.TrimRight(string(password), "\r\n")
	}
	if options.User == "" && options.Password == "" && options.Token == "" {
		if address, account, ok := keystone.FromEnvironment(os.Getenv); ok {
			options.KeystoneURL, options.Account = address, account
			caFile = cmp.Or(caFile, os.Getenv("OS_CACERT"))
		}
	}
	if options.User == "" && options.KeystoneURL == "" {
		options.User = "admin"
	}
	if caFile != "" {
		var err error
		if options.CAs, err = keystone.TrustedCAs(caFile); err != nil {
			return nil, fmt.Errorf("--ca-file: %w", err)
		}
	}
	if !strings.Contains(r.URL, "://") {
		return nil, fmt.Errorf("--url: %q has no scheme: write http://%s", r.URL, r.URL)
	}
	return client.New(r.URL, options)
}

// The flags to use where a server does not know the user.
const (
	passwordAdvice = "--user with --password-file or GNOCCO_PASSWORD, or https://USER:PASSWORD@HOST as --url"
	tokenAdvice    = "OS_AUTH_URL and the other OS_* variables of OpenStack's clients, or --token or GNOCCO_TOKEN"
)

// Advice returns what to do about an error, "" if that is not known.
func Advice(err error) string {
	if errors.Is(err, syscall.ECONNREFUSED) {
		return "is a server running there? gnocco serve starts one, and --url says where another one is"
	}
	if errors.Is(err, syscall.EADDRINUSE) {
		return "another program listens there: --listen says where this server is to listen"
	}
	if errors.As(err, new(*net.DNSError)) {
		return "no machine has this name: --url says where the server is"
	}
	if errors.Is(err, http.ErrSchemeMismatch) {
		return "the server has no TLS: write http:// in --url"
	}
	var answer *client.StatusError
	switch {
	case !errors.As(err, &answer):
		return ""
	case answer.Status == http.StatusBadRequest && strings.Contains(answer.Description, "HTTP request to an HTTPS server"):
		return "the server has TLS: write https:// in --url"
	case answer.Status == http.StatusNotFound && answer.Description == "":
		return "is this Gnocco's address, with its prefix? --url says where the server is"
	case answer.Status != http.StatusUnauthorized:
		return ""
	}
	switch scheme, _, _ := strings.Cut(answer.Challenge, " "); strings.ToLower(scheme) {
	case "basic":
		return "the server wants a user's password, and got no valid one: use " + passwordAdvice
	case "keystone":
		return "the server wants a Keystone token, and got no valid one: use " + tokenAdvice
	}
	return "the server wants credentials: for a password use " + passwordAdvice +
		"; for a Keystone token use " + tokenAdvice
}
