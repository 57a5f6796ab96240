package peer

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/internal/budget"
	"github.com/gnocco-db/gnocco/internal/quota"
	"github.com/gnocco-db/gnocco/metricd/latetypes"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/query/activity"
	"github.com/gnocco-db/gnocco/storage/incoming"
	"github.com/gnocco-db/gnocco/storage/index"
)

// Process is this process as the others see it. The stores that it holds may change at any time: the functions return
// the present ones.
type Process struct {
	Key   Key
	Store func(id string) *incoming.Store // nil if it is not held here
	// Groups reads groups of metrics in the sacks held here; nil for a process that never holds any.
	Groups     func(ctx context.Context, read model.Read, dst *carbonara.Groups) error
	Operations []Operation // on archives
	// Unreadable returns a model.DamagedError for an error of reading a store, if it says that what was read is
	// damaged; else the error itself. It tells the operator. May be nil.
	Unreadable func(id string, err error) error
	// Index and API return what stays until release is called, nil if the index is not held here.
	Index func() (store *index.Store, epoch uint64, release func())
	API   func() (handler http.Handler, release func())
	// Push stores a batch of series while the index is held here; nil for a process without an API. A model.ErrInvalid
	// refuses the batch, whereas after another error it may come again.
	Push func(ctx context.Context, creator, protocol string, batch []byte) error
	// IndexDamage returns a model.DamagedError if it is not held here because it is damaged; may be nil.
	IndexDamage func() error
	Notice      func(ctx context.Context, notice *Notice) error
	Status      func() *Status
	Activity    *activity.Tracker // nil for a process without queries
	Pulse       func() Pulse
	Clock       incoming.Clock
	// ShowNames is claim.Session's.
	ShowNames func() (round uint64, err error)
	Budget    *budget.Budget // the memory that requests share; nil: no bound
	Quotas    *quota.Book    // nil for a process that takes no requests
	Logger    *slog.Logger
}

// maxRequest bounds a request's bytes: the IDs of a batch of some 100,000 metrics fit.
const maxRequest = 16 << 20

// Handler answers the other processes' requests.
func (p *Process) Handler() http.Handler {
	mux := http.NewServeMux()
	at := func(path string, h func(http.ResponseWriter, *http.Request) error) {
		mux.HandleFunc("POST /peer/"+path, func(w http.ResponseWriter, r *http.Request) {
			r.Body = http.MaxBytesReader(w, r.Body, maxRequest)
			ctx := p.Budget.Context(r.Context())
			defer ctx.Close()
			r = r.WithContext(ctx)
			if err := h(w, r); err != nil {
				p.fail(w, r, err)
			}
		})
	}
	at("poll", p.poll)
	at("groups", p.groups)
	for _, operation := range p.Operations {
		at(operation.name, operation.answer(p))
	}
	at("find", ofIndex(p, p.find))
	at("version", ofIndex(p, p.version))
	at("deleted", ofIndex(p, p.deleted))
	at("expunge", ofIndex(p, p.expunge))
	at("revive", ofIndex(p, p.revive))
	at("growing", ofIndex(p, p.growing))
	at("push", p.push)
	at("wake", inJSON(func(ctx context.Context, notice *Notice) (none, error) { return none{}, p.Notice(ctx, notice) }))
	at("ping", func(http.ResponseWriter, *http.Request) error { return nil })
	at("pulse", inJSON(func(context.Context, *none) (Pulse, error) { return p.Pulse(), nil }))
	at("clock", inJSON(p.clock))
	at("show-names", inJSON(func(context.Context, *none) (uint64, error) { return p.ShowNames() }))
	at("status", inJSON(func(context.Context, *none) (*Status, error) { return p.Status(), nil }))
	at("activity", inJSON(func(_ context.Context, request *activity.Request) (*activity.Report, error) {
		return p.Activity.Answer(*request), nil
	}))
	mux.HandleFunc("/peer/api/", p.api)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !p.Key.signed(r) {
			http.Error(w, "this is for the processes of the cluster: the key of the asking one differs from DATA/key here; "+
				"restart the process whose key is old", http.StatusForbidden)
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

// clock returns what the clock says, in nanoseconds, unless the asking process has the same one.
func (p *Process) clock(_ context.Context, request *clockRequest) (int64, error) {
	if request.Own == p.Clock.ID {
		return 0, fmt.Errorf("%w: it is the same clock", model.ErrUnavailable)
	}
	return p.Clock.Now(), nil
}

// api answers a request that another process passes on.
func (p *Process) api(w http.ResponseWriter, r *http.Request) {
	handler, release := p.API()
	if handler == nil {
		p.fail(w, r, p.indexElsewhere())
		return
	}
	defer release()
	r.RemoteAddr, r.TLS = r.Header.Get(clientAddressHeader), nil // this connection says nothing about the client's
	if r.Header.Get(clientTLSHeader) != "" {
		r.TLS = new(tls.ConnectionState)
	}
	http.StripPrefix("/peer/api", handler).ServeHTTP(w, r)
}

func (p *Process) groups(w http.ResponseWriter, r *http.Request) error {
	var request groupsRequest
	if err := readJSON(r, &request); err != nil {
		return err
	}
	if p.Groups == nil {
		return ErrElsewhere
	}
	var groups carbonara.Groups
	var body []byte
	sent := false
	for i := range request.Reads {
		read, err := request.Reads[i].model(request.Policies)
		if err == nil {
			err = p.Groups(r.Context(), read, &groups)
		}
		if err != nil {
			if sent { // the answer has begun: cut off, it is invalid
				panic(http.ErrAbortHandler)
			}
			return err
		}
		body = appendGroups(body, &groups)
		budget.Of(r.Context()).Release(budget.Answers, int64(groups.Bytes()))
		if len(body) >= 256<<10 {
			if _, err := w.Write(body); err != nil {
				return nil // the caller is gone
			}
			body, sent = body[:0], true
		}
	}
	_, _ = w.Write(body)
	return nil
}

// indexElsewhere returns why the index is not held here.
func (p *Process) indexElsewhere() error {
	if p.IndexDamage != nil {
		if err := p.IndexDamage(); err != nil {
			return err
		}
	}
	return ErrElsewhere
}

func (p *Process) version(_ context.Context, _ *index.Store, at version, request *versionRequest) (
	versionAnswer, error) {
	return versionAnswer{at, p.Quotas.Add(request.Quotas)}, nil
}

func (p *Process) find(ctx context.Context, store *index.Store, at version, request *idsRequest) (*findAnswer, error) {
	found := make([]*model.Metric, len(request.IDs))
	if err := store.Find(ctx, request.IDs, found); err != nil {
		return nil, err
	}
	answer := &findAnswer{Version: at}
	var numbers policies
	for _, m := range found {
		if m != nil {
			answer.Metrics = append(answer.Metrics, metric{ID: m.ID, Name: m.Name, Unit: m.Unit, Creator: m.Creator,
				Policy: numbers.of(m.ArchivePolicy), Resource: m.ResourceID, ResourceEndedAt: m.ResourceEndedAt,
				SchemaPending: m.OwnSchemaPending, Replicas: m.Replicas})
		}
	}
	answer.Policies = numbers.list.sent()
	return answer, nil
}

func (p *Process) deleted(ctx context.Context, store *index.Store, _ version, request *deletedRequest) (
	idsRequest, error) {
	ids, err := store.DeletedMetrics(ctx, request.Limit)
	return idsRequest{ids}, err
}

func (p *Process) revive(ctx context.Context, store *index.Store, _ version, request *reviveRequest) (none, error) {
	return none{}, store.Revive(ctx, request.Newest, request.At)
}

func (p *Process) growing(ctx context.Context, store *index.Store, _ version, request *idsRequest) (none, error) {
	return none{}, latetypes.Growing(ctx, store, request.IDs, p.Logger)
}

func (p *Process) expunge(ctx context.Context, store *index.Store, _ version, request *idsRequest) (none, error) {
	if err := store.Expunge(ctx, request.IDs...); !errors.Is(err, model.ErrNotFound) {
		return none{}, err
	}
	// Some are gone already, after an answer that got lost; they must not hold up the others.
	for _, id := range request.IDs {
		if err := store.Expunge(ctx, id); err != nil && !errors.Is(err, model.ErrNotFound) {
			return none{}, err
		}
	}
	return none{}, nil
}

type handler = func(http.ResponseWriter, *http.Request) error

// none is the answer without a body.
type none struct{}

// inJSON returns the handler of a request in JSON.
func inJSON[Request, Answer any](do func(context.Context, *Request) (Answer, error)) handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		var request Request
		if err := readJSON(r, &request); err != nil {
			return err
		}
		answer, err := do(r.Context(), &request)
		if _, empty := any(answer).(none); empty || err != nil {
			return err
		}
		return writeJSON(w, answer)
	}
}

// ofIndex is inJSON for requests that need the index and its version. Where it is not held, they return an
// ErrElsewhere or a model.DamagedError.
func ofIndex[Request, Answer any](p *Process,
	do func(context.Context, *index.Store, version, *Request) (Answer, error)) handler {
	return inJSON(func(ctx context.Context, request *Request) (answer Answer, err error) {
		store, epoch, release := p.Index()
		if store == nil {
			return answer, p.indexElsewhere()
		}
		defer release()
		return do(ctx, store, version{epoch, store.Generation()}, request)
	})
}

func readJSON(r *http.Request, request any) error {
	return json.NewDecoder(bufio.NewReader(r.Body)).Decode(request)
}

func writeJSON(w http.ResponseWriter, answer any) error {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(answer) // an error means that the caller is gone
	return nil
}
