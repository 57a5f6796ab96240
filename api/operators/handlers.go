package operators

import (
	"context"
	"net/http"
	"sync"

	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/gnocco-db/gnocco/api/auth"
	"github.com/gnocco-db/gnocco/api/web"
	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/query/activity"
	"github.com/gnocco-db/gnocco/storage/incoming"
)

// Handlers answer operators.
type Handlers struct {
	*web.Env
	Incoming *incoming.Store
	Cluster  func(context.Context) *model.ClusterStatus // nil: there is no cluster
	Backups  func() ([]model.Backup, error)             // the newest first
	NotReady func() []string                            // why no requests should be sent to this process
	Missing  func() []string                            // stores that no process holds, by name
	// LastMeasures returns the timestamps of metrics' newest measures.
	LastMeasures func(ctx context.Context, metrics []uuid.UUID) ([]carbonara.Timestamp, error)
	// OtherActivity asks the other processes of the cluster for theirs; nil: there are none.
	OtherActivity func(context.Context, activity.Request) []*activity.Report
	Gatherer      prometheus.Gatherer // what /metrics shows; nil: no /metrics
	Quota         model.Quota         // of each project, unless it has its own

	quotasMu sync.Mutex // held from a change of quotas until the book has it
}

// Routes need an index.
func (a *Handlers) Routes(at func(method, path string, h http.HandlerFunc)) {
	a.RoutesWithoutIndex(at)
	at("GET", "/v1/queries", a.Authenticated(a.listQueries))
	at("DELETE", "/v1/queries/{id}", a.Authenticated(a.killQuery))
	at("GET", "/v1/queries/costs", a.Authorized("list queries", a.listCosts))
	at("GET", "/v1/queries/unread", a.Authorized("list queries", a.Timed(a.listUnread)))
	at("GET", "/v1/silent", a.Authorized("list queries", a.Timed(a.listSilent)))
	at("GET", "/v1/ledger", a.Authorized("list ledger", a.listLedger))
	at("GET", "/v1/backups", a.Authorized("list backups", a.listBackups))

	quotas := quotaHandlers{a}
	at("GET", "/v1/usage", a.Authenticated(quotas.own))
	at("GET", "/v1/quotas", a.Authorized("manage quotas", quotas.list))
	at("GET", "/v1/quotas/{project}", a.Authorized("manage quotas", quotas.get))
	at("PUT", "/v1/quotas/{project}", a.Authorized("manage quotas", quotas.replace))
	at("DELETE", "/v1/quotas/{project}", a.Authorized("manage quotas", quotas.delete))
}

// RoutesWithoutIndex are those of each process: the status says why nobody holds the index. Probes need no credentials,
// and ask no store: a full disk is no reason to be restarted.
func (a *Handlers) RoutesWithoutIndex(at func(method, path string, h http.HandlerFunc)) {
	at("GET", "/v1/status", a.Authorized("get status", a.getStatus))
	for _, method := range []string{"GET", "HEAD"} {
		ready := func(w http.ResponseWriter, _ *http.Request) { ServeReady(w, a.NotReady(), a.Missing()) }
		at(method, "/live", ServeLive)
		at(method, "/ready", ready)
		at(method, "/-/healthy", ServeLive) // Prometheus' names
		at(method, "/-/ready", ready)
		at(method, "/healthcheck", func(w http.ResponseWriter, r *http.Request) { ServeHealth(w, r, a.NotReady()) })
	}
}

// Metrics are the route of the process's own metrics, which no prefix has.
func (a *Handlers) Metrics(at func(method, path string, h http.HandlerFunc)) {
	if a.Gatherer != nil {
		metrics := promhttp.HandlerFor(a.Gatherer, promhttp.HandlerOpts{}).ServeHTTP
		at("GET", "/metrics", metrics)
		at("HEAD", "/metrics", metrics)
	}
}

// listBackups serves GET /v1/backups: the last backups of the cluster, the newest first.
func (a *Handlers) listBackups(w http.ResponseWriter, _ *http.Request, _ *auth.Identity) error {
	all, err := a.Backups()
	return web.Answer(w, all, err)
}
