package peer

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"strings"

	"github.com/google/uuid"

	"gnocco/carbonara"
	"gnocco/model"
	"gnocco/storage/archive"
	"gnocco/storage/incoming"
	"gnocco/storage/index"
)

// Archives is what other processes read of the sacks held here.
type Archives interface {
	Groups(ctx context.Context, read model.Read, dst *carbonara.Groups) error
	RefreshSacks(ctx context.Context, sacks []int) error
	Sizes(ctx context.Context, metrics []uuid.UUID) ([]archive.Size, error)
	Reaggregate(ctx context.Context, metrics []*model.Metric) (model.Reaggregated, error)
}

// Process is what this process holds, as others may ask for it. All of it but Key may change at any time: the functions say
// what there is now.
type Process struct {
	Key      Key
	Archives Archives                                  // nil for a process that never holds sacks
	Store    func(id string) *incoming.Store           // nil if it is not held here
	Index    func() (store *index.Store, epoch uint64) // nil if it is not held here
	Sees     func(epoch, generation uint64)            // told how new the index is at least
	API      func() http.Handler                       // of who holds the index; nil if it is not held here
	Wake     func(ctx context.Context, leaving string) error
	Status   func() *Status
	Logger   *slog.Logger
}

// maxRequest is in bytes: the ids of a batch of some 100,000 metrics.
const maxRequest = 16 << 20

// Handler answers the other processes' requests.
func (p *Process) Handler() http.Handler {
	mux := http.NewServeMux()
	at := func(path string, h func(http.ResponseWriter, *http.Request) error) {
		mux.HandleFunc("POST /peer/"+path, func(w http.ResponseWriter, r *http.Request) {
			r.Body = http.MaxBytesReader(w, r.Body, maxRequest)
			if err := h(w, r); err != nil {
				p.fail(w, r, err)
			}
		})
	}
	at("poll", p.poll)
	at("groups", p.groups)
	at("refresh", p.refresh)
	at("sizes", p.sizes)
	at("reaggregate", p.reaggregate)
	at("find", p.find)
	at("version", p.version)
	at("deleted", p.deleted)
	at("expunge", p.expunge)
	at("wake", p.wake)
	at("status", func(w http.ResponseWriter, r *http.Request) error { return writeJSON(w, p.Status()) })
	mux.HandleFunc("/peer/api/", p.api)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !p.Key.signed(r) {
			http.Error(w, "this is for the processes of the cluster", http.StatusForbidden)
			return
		}
		r.Header.Del(keyHeader)
		if path, ok := strings.CutPrefix(r.URL.Path, "/peer/api"); ok && strings.HasPrefix(path, "/") {
			p.api(w, r) // not by the mux, which would clean the path
			return
		}
		mux.ServeHTTP(w, r)
	})
}

// fail answers with what the other side makes an ErrElsewhere or an ErrUnreachable of.
func (p *Process) fail(w http.ResponseWriter, r *http.Request, err error) {
	status := http.StatusInternalServerError
	var syntax *json.SyntaxError
	switch {
	case errors.Is(err, ErrElsewhere):
		status = http.StatusMisdirectedRequest
	case errors.Is(err, model.ErrUnavailable):
		status = http.StatusServiceUnavailable
	case errors.Is(err, model.ErrInvalid), errors.As(err, &syntax):
		status = http.StatusBadRequest
	case r.Context().Err() == nil && p.Logger != nil:
		p.Logger.Error("request of another process failed", "path", r.URL.Path, "error", err)
	}
	http.Error(w, err.Error(), status)
}

func (p *Process) wake(_ http.ResponseWriter, r *http.Request) error {
	var request wakeRequest
	if err := readJSON(r, &request); err != nil {
		return err
	}
	return p.Wake(r.Context(), request.Leaving)
}

// api answers a request that another process passes on.
func (p *Process) api(w http.ResponseWriter, r *http.Request) {
	handler := p.API()
	if handler == nil {
		p.fail(w, r, ErrElsewhere)
		return
	}
	r.TLS = nil // that of this connection says nothing about the client's
	http.StripPrefix("/peer/api", handler).ServeHTTP(w, r)
}

func (p *Process) groups(w http.ResponseWriter, r *http.Request) error {
	var request groupsRequest
	if err := p.readForArchives(r, &request); err != nil {
		return err
	}
	policies, err := modelsOf(request.Policies)
	if err != nil {
		return err
	}
	var groups carbonara.Groups
	var body []byte
	sent := false
	for i := range request.Reads {
		read, err := request.Reads[i].model(policies)
		if err == nil {
			err = p.Archives.Groups(r.Context(), read, &groups)
		}
		if err != nil {
			if sent { // the answer has begun: cut off, it is none
				panic(http.ErrAbortHandler)
			}
			return err
		}
		body = appendGroups(body, &groups)
		if len(body) >= 256<<10 {
			if _, err := w.Write(body); err != nil {
				return nil // who asked is gone
			}
			body, sent = body[:0], true
		}
	}
	_, _ = w.Write(body)
	return nil
}

func (p *Process) refresh(_ http.ResponseWriter, r *http.Request) error {
	var request sacksRequest
	if err := p.readForArchives(r, &request); err != nil {
		return err
	}
	return p.Archives.RefreshSacks(r.Context(), request.Sacks)
}

func (p *Process) sizes(w http.ResponseWriter, r *http.Request) error {
	var request idsRequest
	if err := p.readForArchives(r, &request); err != nil {
		return err
	}
	sizes, err := p.Archives.Sizes(r.Context(), request.IDs)
	if err != nil {
		return err
	}
	return writeJSON(w, sizesAnswer{sizes})
}

// held returns the index, or an ErrElsewhere.
func (p *Process) held() (*index.Store, version, error) {
	store, epoch := p.Index()
	if store == nil {
		return nil, version{}, ErrElsewhere
	}
	return store, version{epoch, store.Generation()}, nil
}

func (p *Process) version(w http.ResponseWriter, _ *http.Request) error {
	_, version, err := p.held()
	if err != nil {
		return err
	}
	return writeJSON(w, version)
}

func (p *Process) find(w http.ResponseWriter, r *http.Request) error {
	var request idsRequest
	if err := readJSON(r, &request); err != nil {
		return err
	}
	store, version, err := p.held()
	if err != nil {
		return err
	}
	found := make([]*model.Metric, len(request.IDs))
	if err := store.Find(r.Context(), request.IDs, found); err != nil {
		return err
	}
	answer := findAnswer{Version: version}
	var numbers policies
	for _, m := range found {
		if m != nil {
			answer.Metrics = append(answer.Metrics, metric{ID: m.ID, Name: m.Name, Unit: m.Unit, Creator: m.Creator,
				Policy: numbers.of(m.ArchivePolicy), Resource: m.ResourceID, Unsettled: m.Unsettled})
		}
	}
	answer.Policies = numbers.list
	return writeJSON(w, &answer)
}

func (p *Process) deleted(w http.ResponseWriter, r *http.Request) error {
	var request deletedRequest
	if err := readJSON(r, &request); err != nil {
		return err
	}
	store, _, err := p.held()
	if err != nil {
		return err
	}
	ids, err := store.DeletedMetrics(r.Context(), request.Limit)
	if err != nil {
		return err
	}
	return writeJSON(w, idsRequest{ids})
}

func (p *Process) expunge(_ http.ResponseWriter, r *http.Request) error {
	var request idsRequest
	if err := readJSON(r, &request); err != nil {
		return err
	}
	store, _, err := p.held()
	if err != nil {
		return err
	}
	if err = store.Expunge(r.Context(), request.IDs...); !errors.Is(err, model.ErrNotFound) {
		return err
	}
	// Some are gone already, after an answer that got lost; they must not keep the others.
	for _, id := range request.IDs {
		if err := store.Expunge(r.Context(), id); err != nil && !errors.Is(err, model.ErrNotFound) {
			return err
		}
	}
	return nil
}

// readForArchives reads a request for the sacks held here; an ErrElsewhere if there never are any.
func (p *Process) readForArchives(r *http.Request, request any) error {
	if err := readJSON(r, request); err != nil {
		return err
	}
	if p.Archives == nil {
		return ErrElsewhere
	}
	return nil
}

func readJSON(r *http.Request, request any) error {
	return json.NewDecoder(bufio.NewReader(r.Body)).Decode(request)
}

func writeJSON(w http.ResponseWriter, answer any) error {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(answer) // an error means that who asked is gone
	return nil
}
