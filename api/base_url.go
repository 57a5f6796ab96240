package api

import (
	"cmp"
	"net/http"
	"net/url"
	"strings"
)

// baseURL returns what stands before "/v1" in the URL that the client used: scheme, host and mount prefix, as seen
// by the client when proxies in between tell and are believed.
func (a *api) baseURL(r *http.Request) string {
	scheme, prefix := "http", a.mountPrefix(r)
	if r.TLS != nil {
		scheme = "https"
	}
	if a.ProxyHeaders {
		proto := r.Header.Get("X-Forwarded-Proto")
		if forwarded := r.Header.Get("Forwarded"); forwarded != "" {
			proto, _ = parseForwarded(forwarded)
		}
		scheme = cmp.Or(proto, scheme)
		prefix = r.Header.Get("X-Forwarded-Prefix") + prefix
	}
	return scheme + "://" + a.clientHost(r) + prefix
}

// clientHost returns the host of the URL that the client used, by the same rules.
func (a *api) clientHost(r *http.Request) string {
	if !a.ProxyHeaders {
		return r.Host
	}
	host := r.Header.Get("X-Forwarded-Host")
	if forwarded := r.Header.Get("Forwarded"); forwarded != "" {
		_, host = parseForwarded(forwarded)
	}
	return cmp.Or(host, r.Host)
}

// mountPrefix returns Prefix if the request came in below it, else "".
func (a *api) mountPrefix(r *http.Request) string {
	if r.URL.Path == a.Prefix || strings.HasPrefix(r.URL.Path, a.Prefix+"/") {
		return a.Prefix
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

// setLocation sets the URL of the new object: segments below /v1, escaped here.
func (a *api) setLocation(w http.ResponseWriter, r *http.Request, segments ...string) {
	location := a.baseURL(r) + "/v1"
	for _, segment := range segments {
		location += "/" + url.PathEscape(segment)
	}
	w.Header().Set("Location", location)
}
