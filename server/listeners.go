package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/gnocco-db/gnocco/api/series"
	"github.com/gnocco-db/gnocco/internal/trusted"
	"github.com/gnocco-db/gnocco/listener"
)

// listen starts the listeners of the options. Their batches go the way of requests: to the index, here or elsewhere.
func (s *Server) listen(handler http.Handler, o *Options, registerer prometheus.Registerer) error {
	store := func(ctx context.Context, creator, protocol string, batch *series.Batch) error {
		return storeListened(trusted.With(ctx, creator), handler, batch.Body(protocol))
	}
	if err := s.listenForStatsd(store, o, registerer); err != nil {
		return err
	}
	for _, options := range o.Listeners {
		options.Logger, options.Registerer, options.Store = o.Logger, registerer, store
		l, err := listener.Start(options)
		if err != nil {
			return err
		}
		s.listeners = append(s.listeners, l)
		s.closers.Add(options.Protocol, l.Close)
	}
	return nil
}

// ListenerAddr returns the address of the listener of a protocol, nil for none.
func (s *Server) ListenerAddr(protocol string) net.Addr {
	for _, l := range s.listeners {
		if l.Protocol() == protocol {
			return l.Addr()
		}
	}
	return nil
}

func storeListened(ctx context.Context, handler http.Handler, body io.Reader) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://listener/", body)
	if err != nil {
		return err
	}
	r.ContentLength = -1 // not known
	w := &listenedAnswer{header: http.Header{}}
	handler.ServeHTTP(w, r)
	switch {
	case w.status == http.StatusNoContent:
		return nil
	case w.status >= http.StatusInternalServerError || w.status == http.StatusMisdirectedRequest:
		err = listener.ErrAgain
	}
	return errors.Join(err, fmt.Errorf("%d %s", w.status, strings.TrimSpace(w.text.String())))
}

// listenedAnswer is an http.ResponseWriter.
type listenedAnswer struct {
	header http.Header
	status int
	text   strings.Builder
}

func (w *listenedAnswer) Header() http.Header { return w.header }

func (w *listenedAnswer) WriteHeader(status int) {
	if w.status == 0 && status >= http.StatusOK {
		w.status = status
	}
}

func (w *listenedAnswer) Write(text []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	return w.text.Write(text)
}
