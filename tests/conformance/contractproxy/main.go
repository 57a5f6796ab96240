package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"os/signal"
	"sync"
	"syscall"

	"github.com/gnocco-db/gnocco"
	"github.com/gnocco-db/gnocco/tests/conformance/contract"
)

func main() {
	listen := flag.String("listen", "127.0.0.1:28041", "address to listen on")
	to := flag.String("to", "http://127.0.0.1:8041", "the server")
	prefix := flag.String("prefix", "/gnocchi", "mount prefix of the server")
	flag.Parse()
	if err := run(*listen, *to, *prefix); err != nil {
		fmt.Fprintln(os.Stderr, "contractproxy:", err)
		os.Exit(1)
	}
}

// run proxies until it is told to end, and then tells what it saw.
func run(listen, to, prefix string) error {
	target, err := url.Parse(to)
	if err != nil {
		return err
	}
	c, err := contract.New(gnocco.OpenAPI, prefix)
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", listen)
	if err != nil {
		return err
	}
	p := &proxy{contract: c, breaches: make(map[string]int), seen: make(map[contract.Operation]bool)}
	server := &http.Server{Handler: p.handler(target)}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGTERM, syscall.SIGINT)
	select {
	case err = <-ended:
		return err
	case <-stop:
	}
	if err := server.Close(); err != nil {
		return err
	}
	return p.report()
}

// proxy passes requests on and holds what comes back to the contract.
type proxy struct {
	contract *contract.Contract

	mu       sync.Mutex
	total    int
	breaches map[string]int // how often, by text
	seen     map[contract.Operation]bool
}

func (p *proxy) handler(target *url.URL) http.Handler {
	forward := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			// The server is to see the request as it was sent: its Host, and what other proxies told it.
			r.Out.URL.Scheme, r.Out.URL.Host, r.Out.Host = target.Scheme, target.Host, r.In.Host
			r.Out.Header = r.In.Header.Clone()
		},
		// Servers are started anew behind us: a connection kept open could be one to the last.
		Transport: &http.Transport{DisableKeepAlives: true, DisableCompression: true},
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		answer := &recorder{ResponseWriter: w, status: http.StatusOK}
		forward.ServeHTTP(answer, r)
		p.check(&contract.Exchange{Method: r.Method, URL: r.URL, Request: r.Header, Body: body,
			Status: answer.status, Answer: w.Header(), Result: answer.body.Bytes()})
	})
}

func (p *proxy) check(x *contract.Exchange) {
	err := p.contract.Check(x)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.total++
	o, ok := p.contract.Match(x.Method, x.URL)
	if ok {
		p.seen[o] = true
	}
	if err != nil {
		text := fmt.Sprintf("%s %s: %d: %s", x.Method, x.URL.Path, x.Status, err)
		if ok {
			text = fmt.Sprintf("%s %s: %d: %s", o.Method, o.Path, x.Status, err)
		}
		if p.breaches[text]++; p.breaches[text] == 1 {
			fmt.Fprintf(os.Stderr, "contract: %s\n  request %s %.300s\n  answer %.300s\n", text,
				x.URL, x.Body, x.Result)
		}
	}
}

// report says how many answers there were, and fails if one broke the contract.
func (p *proxy) report() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	fmt.Printf("contract: %d answers to %d of %d operations, %d kinds of breach\n",
		p.total, len(p.seen), len(p.contract.Operations()), len(p.breaches))
	if len(p.breaches) > 0 {
		return errors.New("answers are not what openapi.yaml describes")
	}
	return nil
}

// recorder keeps a copy of the answer.
type recorder struct {
	http.ResponseWriter
	status int
	body   bytes.Buffer
}

// WriteHeader implements http.ResponseWriter.
func (r *recorder) WriteHeader(status int) {
	if status >= 200 {
		r.status = status
	}
	r.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (r *recorder) Write(p []byte) (int, error) {
	r.body.Write(p)
	return r.ResponseWriter.Write(p)
}

// Unwrap is for http.ResponseController.
func (r *recorder) Unwrap() http.ResponseWriter { return r.ResponseWriter }
