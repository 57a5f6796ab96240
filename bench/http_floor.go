package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"sync"
	"time"
)

// ServeFloor listens on address and does nothing but HTTP, until ctx is done: the cost of a server before it does any
// work. A POST is read and answered 202; a GET is answered by the last PUT of the same path and query.
func ServeFloor(ctx context.Context, address string) error {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return fmt.Errorf("bench: floor: %w", err)
	}
	server := &http.Server{Handler: new(floorHandler)}
	stop := context.AfterFunc(ctx, func() {
		grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		_ = server.Shutdown(grace)
	})
	defer stop()
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("bench: floor: %w", err)
	}
	return nil
}

type floorHandler struct {
	answers sync.Map // request URI: []byte
}

func (h *floorHandler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch r.Method {
	case http.MethodPost:
		if _, err := io.Copy(io.Discard, r.Body); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		w.WriteHeader(http.StatusAccepted)
	case http.MethodPut:
		body, err := io.ReadAll(r.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		h.answers.Store(r.URL.RequestURI(), body)
		w.WriteHeader(http.StatusNoContent)
	case http.MethodGet:
		body, ok := h.answers.Load(r.URL.RequestURI())
		switch {
		case ok:
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write(body.([]byte))
		case r.URL.Path == "/":
			w.WriteHeader(http.StatusNoContent)
		default:
			http.NotFound(w, r)
		}
	default:
		w.WriteHeader(http.StatusMethodNotAllowed)
	}
}

// withFloor runs f against a floor server in a child.
func (o *Options) withFloor(ctx context.Context, f func(*server) error) error {
	return o.inFolder(func(dir string) error {
		c, err := startChild(ctx, o.Self, filepath.Join(dir, "log"), "/", "floor", "--listen", "LISTEN")
		if err != nil {
			return err
		}
		defer c.kill()
		return f(&server{name: "floor", url: c.url, options: o, child: c})
	})
}
