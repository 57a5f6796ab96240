package cluster

import (
	"context"
	"sync"
	"time"

	"github.com/gnocco-db/gnocco/storage/claim"
)

// damagedElsewhere knows which stores other processes cannot open and have no claim on, such as one whose folder is
// gone, or that is locked. Of a store that is claimed, its holder says so itself.
type damagedElsewhere struct {
	members *membership

	mu     sync.Mutex
	asked  time.Time
	stores map[string]error // model.DamagedErrors by name
}

// askDamagedTimeout is how long the others have to answer. It is short: requests wait for it.
const askDamagedTimeout = 500 * time.Millisecond

// of returns a model.DamagedError if another process says that a store is damaged. It asks all of them, once a second
// at most.
func (d *damagedElsewhere) of(ctx context.Context, name string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if time.Since(d.asked) > holderFor {
		d.stores, d.asked = d.ask(ctx), time.Now()
	}
	return d.stores[name]
}

func (d *damagedElsewhere) ask(ctx context.Context) map[string]error {
	var mu sync.Mutex
	stores := make(map[string]error)
	_ = d.members.askOthers(ctx, askDamagedTimeout, everyone, func(ctx context.Context, other *claim.Member) {
		answer, err := d.members.client.Status(ctx, other.Address)
		if err != nil {
			return
		}
		mu.Lock()
		defer mu.Unlock()
		for _, store := range answer.Damaged {
			if !store.Served {
				stores[store.Name] = store.Err()
			}
		}
	}) // the reconcile loop logs the error
	return stores
}
