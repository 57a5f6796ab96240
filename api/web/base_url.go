package web

import (
	"cmp"
	"net/http"
	"net/url"
	"strings"
)

// BaseURL returns what stands before "/v1" in the URL that the client used: scheme, host and mount prefix, as seen
// by the client when proxies in between tell and are believed.
func (e *Env) BaseURL(r *http.Request) string {
	scheme, prefix := "http", e.mountPrefix(r)
	if r.TLS != nil {
		scheme = "https"
	}
	if e.ProxyHeaders {
		proto := r.Header.Get("X-Forwarded-Proto")
		if forwarded := r.Header.Get("Forwarded"); forwarded != "" {
			proto, _ = parseForwarded(forwarded)
		}
		scheme = cmp.Or(proto, scheme)
		prefix = r.Header.Get("X-Forwarded-Prefix") + prefix
	}
	return scheme + "://" + e.ClientHost(r) + prefix
}

// ClientHost returns the host of the URL that the client used, by the same rules.
func (e *Env) ClientHost(r *http.Request) string {
	if !e.ProxyHeaders {
		return r.Host
	}
	host := r.Header.Get("X-Forwarded-Host")
	if forwarded := r.Header.Get("Forwarded"); forwarded != "" {
		_, host = parseForwarded(forwarded)
	}
	return cmp.Or(host, r.Host)
}

// mountPrefix returns Prefix if the request came in below it, else "".
func (e *Env) mountPrefix(r *http.Request) string {
	if r.URL.Path == e.Prefix || strings.HasPrefix(r.URL.Path, e.Prefix+"/") {
		return e.Prefix
	}
	return ""
}

// parseForwarded returns proto and host of the first proxy in a Forwarded header (RFC 7239).
func parseForwarded(header string) (proto, host string) {
	first, _, _ := strings.Cut(header, ",")
	for pair := range strings.SplitSeq(first, ";") {
		key, value, _ := strings.Cut(pair, "=")
		value = strings.Trim(strings.TrimSpace(value), `"`)
		switch strings.ToLower(strings.TrimSpace(key)) {
		case "proto":
			proto = value
		case "host":
			host = value
		}
	}
	return proto, host
}

// SetLocation sets the URL of the new object: segments below /v1, escaped here.
func (e *Env) SetLocation(w http.ResponseWriter, r *http.Request, segments ...string) {
	location := e.BaseURL(r) + "/v1"
	for _, segment := range segments {
		location += "/" + url.PathEscape(segment)
	}
	w.Header().Set("Location", location)
}
