package cluster

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"github.com/gnocco-db/gnocco/cluster/peer"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/query"
	"github.com/gnocco-db/gnocco/storage/archive"
)

// operation is something that is done to archives, described once: the router, the requests between processes and their
// handlers follow from it. archive_operations.go has all operations.
type operation[What, Answer any] struct {
	name string // of the requests between processes
	// local does it to metrics whose sacks are held here. Done twice, it changes nothing more.
	local func(ctx context.Context, l *localArchives, metrics []uuid.UUID, what What) (Answer, error)
	// merge adds the answer about the metrics at some places to that about all n metrics.
	merge func(all *Answer, some Answer, places []int, n int) error
	// stale answers from the disk, where the client allows that; nil for an operation that no stale answer serves.
	stale func(store *archive.Store, metrics []uuid.UUID) (Answer, error)
	// mostAtOnce is the most metrics of one request, all of one sack; then the requests go out one after the other. 0:
	// one request for all sacks of a process.
	mostAtOnce int
	long       bool // it may take longer than processes wait for an answer
}

// request is what one process asks another one to do.
type request[What any] struct {
	Metrics []uuid.UUID `json:"metrics"`
	What    What        `json:"what"`
}

// nothing is what an operation is told, or answers, besides the metrics.
type nothing struct{}

// operations are all of them, as other processes ask for them.
var operations []func(*localArchives) peer.Operation

// register makes an operation one that other processes may ask for.
func register[What, Answer any](o operation[What, Answer]) *operation[What, Answer] {
	operations = append(operations, func(l *localArchives) peer.Operation {
		return peer.NewOperation(o.name, o.long, func(ctx context.Context, r *request[What]) (Answer, error) {
			return o.here(ctx, l, r.Metrics, r.What)
		})
	})
	return &o
}

// here does an operation in this process. l is nil if it never holds sacks.
func (o *operation[What, Answer]) here(ctx context.Context, l *localArchives, metrics []uuid.UUID, what What) (
	answer Answer, err error) {
	if l == nil {
		return answer, peer.ErrElsewhere
	}
	if len(metrics) == 0 {
		return answer, model.ErrInvalid
	}
	answer, err = o.local(ctx, l, metrics, what)
	return answer, l.answered(err)
}

// run does an operation to metrics, wherever their sacks are held. A process that fails to answer is asked again, or
// another one that holds its sacks by then. With an error it may be done to some metrics; the answer is about these.
func (o *operation[What, Answer]) run(ctx context.Context, a *Router, metrics []uuid.UUID, what What,
	staleness *query.Staleness) (Answer, error) {
	r := &operationRun[What, Answer]{operation: o, router: a, metrics: metrics, what: what, staleness: staleness}
	if o.mostAtOnce > 0 || len(metrics) == 1 {
		all := make([]int, len(metrics))
		for i := range all {
			all[i] = i
		}
		err := r.bySack(ctx, all)
		return r.answer, err
	}
	byHolder, err := a.byHolder(ctx, len(metrics), staleness, r.sack)
	if err != nil {
		return r.answer, err
	}
	var all errgroup.Group
	for address, places := range byHolder {
		all.Go(func() error {
			err := r.ask(ctx, address, places)
			if unanswered(err) && ctx.Err() == nil {
				err = r.bySack(ctx, places) // some sacks have another holder by now, or none
			}
			return err
		})
	}
	err = all.Wait()
	return r.answer, err
}

// operationRun is one run of an operation.
type operationRun[What, Answer any] struct {
	*operation[What, Answer]
	router    *Router
	metrics   []uuid.UUID
	what      What
	staleness *query.Staleness

	mu     sync.Mutex
	answer Answer
}

// sack returns the sack of the i-th metric.
func (r *operationRun[What, Answer]) sack(i int) int { return r.router.Sack(r.metrics[i]) }

// at returns the metrics at some places.
func (r *operationRun[What, Answer]) at(places []int) []uuid.UUID {
	metrics := make([]uuid.UUID, len(places))
	for k, i := range places {
		metrics[k] = r.metrics[i]
	}
	return metrics
}

// ask asks one process; "" is this one.
func (r *operationRun[What, Answer]) ask(ctx context.Context, address string, places []int) error {
	var some Answer
	var err error
	if metrics := r.at(places); address == "" {
		some, err = r.here(ctx, r.router.local, metrics, r.what)
	} else {
		some, err = peer.Ask[Answer](ctx, r.router.client, address, r.name, request[What]{metrics, r.what})
	}
	return r.add(some, err, places)
}

// add adds the answer about some metrics.
func (r *operationRun[What, Answer]) add(some Answer, err error, places []int) error {
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.merge(&r.answer, some, places, len(r.metrics))
}

// bySack asks for one sack after the other, and waits a little for those that change hands.
func (r *operationRun[What, Answer]) bySack(ctx context.Context, places []int) error {
	bySack := make(map[int][]int)
	for _, i := range places {
		bySack[r.sack(i)] = append(bySack[r.sack(i)], i)
	}
	for sack, places := range bySack {
		for some := range slices.Chunk(places, cmp.Or(r.mostAtOnce, len(places))) {
			err := r.router.freshOrStale(ctx, sack, r.staleness,
				func(ctx context.Context) error {
					return r.router.atHolder(ctx, sack,
						func() error { return r.ask(ctx, "", some) },
						func(address string) error { return r.ask(ctx, address, some) })
				},
				func(store *archive.Store) error {
					found, err := r.stale(store, r.at(some))
					return r.add(found, err, some)
				})
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// inOrder merges answers that say one thing of each metric, in their order.
func inOrder[T any](all *[]T, some []T, places []int, n int) error {
	if len(some) != len(places) {
		return fmt.Errorf("%w: the numbers of answers and metrics are %d and %d", peer.ErrUnreachable, len(some), len(places))
	}
	if *all == nil {
		*all = make([]T, n)
	}
	for k, i := range places {
		(*all)[i] = some[k]
	}
	return nil
}

// theOnly is the merge of answers about one metric.
func theOnly[T any](all *T, only T, _ []int, _ int) error {
	*all = only
	return nil
}

// added merges answers that add up.
func added[T any, P interface {
	*T
	Add(*T)
}](all *T, some T, _ []int, _ int) error {
	P(all).Add(&some)
	return nil
}

// oneOfEachSack returns one of the metrics of each sack.
func oneOfEachSack(metrics []uuid.UUID, sacks int) (ones []uuid.UUID) {
	seen := make(map[int]bool)
	for _, id := range metrics {
		if sack := model.Sack(id, sacks); !seen[sack] {
			seen[sack] = true
			ones = append(ones, id)
		}
	}
	return ones
}
