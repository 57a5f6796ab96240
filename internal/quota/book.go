package quota

import (
	"maps"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/model"
)

// Kind is what a project is charged for.
type Kind int

// The kinds, and their number.
const (
	Requests Kind = iota
	Measures
	kinds
)

// names end the sentences of errors.
var names = [kinds]string{"requests a second", "measures a second"}

// burst is for how long a balance grows, in seconds.
const burst = 5

// idle is for how long a project that sends nothing is remembered. Its balances are full long before.
const idle = 10 * time.Minute

// Book has the quotas of projects, and counts what these send to this process. A nil Book has none.
type Book struct {
	Now func() time.Time // nil: time.Now; set before the first use

	quotas atomic.Pointer[quotas] // nil: no project has one

	mu       sync.Mutex
	session  string // another one after an account was forgotten
	accounts map[string]*account
	others   map[string]*process // by session
	swept    time.Time
}

// quotas are not modified.
type quotas struct {
	defaults model.Quota
	own      map[string]model.Quota
}

// account is what a project sent.
type account struct {
	used    time.Time
	spent   [kinds]int64 // to this process
	acked   [kinds]int64 // of spent, as in the last report that was answered
	balance [kinds]balance
	recent  [kinds]recent // to all processes, at the holder of the index
}

// Set replaces the defaults and the quotas of projects.
func (b *Book) Set(defaults model.Quota, own map[string]model.Quota) {
	if defaults == (model.Quota{}) && len(own) == 0 {
		b.quotas.Store(nil)
		return
	}
	b.quotas.Store(&quotas{defaults, maps.Clone(own)})
}

// Of returns the quota of a project that is in force.
func (b *Book) Of(project string) model.Quota {
	q := b.load()
	if q == nil {
		return model.Quota{}
	}
	return q.own[project].Or(q.defaults)
}

func (b *Book) load() *quotas {
	if b == nil {
		return nil
	}
	return b.quotas.Load()
}

// Charge counts n requests or measures of a project, or returns a *model.QuotaError and counts nothing. More than a
// full balance is accepted when the balance is full, and the project waits longer afterwards.
func (b *Book) Charge(kind Kind, project string, n int64) error {
	if b == nil || n == 0 {
		return nil
	}
	most := b.most(kind, project)
	b.mu.Lock()
	defer b.mu.Unlock()
	now := b.now()
	a := b.account(project, now)
	if most > 0 {
		balance := &a.balance[kind]
		balance.grow(most, now)
		if need := min(float64(n), burst*float64(most)) - balance.left; need > 0 {
			return &model.QuotaError{Project: project, Of: names[kind], Most: most,
				After: time.Duration(math.Ceil(need / float64(most) * float64(time.Second)))}
		}
		balance.left -= float64(n)
	}
	a.spent[kind] += n
	a.recent[kind].add(n, now)
	return nil
}

// Return takes back a charge for something that was not accepted.
func (b *Book) Return(kind Kind, project string, n int64) {
	if b == nil || n == 0 {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	now := b.now()
	a := b.account(project, now)
	a.spent[kind] -= n
	a.balance[kind].left += float64(n)
	a.recent[kind].add(-n, now)
}

// Rate returns how much of a kind a project sent to all processes in a second: the mean of the last 10 s. It is known
// to the process that holds the index.
func (b *Book) Rate(kind Kind, project string) float64 {
	if b == nil {
		return 0
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	a := b.accounts[project]
	if a == nil {
		return 0
	}
	return a.recent[kind].rate(b.now())
}

func (b *Book) most(kind Kind, project string) int64 {
	if q := b.Of(project); kind == Measures {
		return q.Measures
	} else {
		return q.Requests
	}
}

func (b *Book) now() time.Time {
	if b.Now == nil {
		return time.Now()
	}
	return b.Now()
}

// account returns that of a project. mu is held.
func (b *Book) account(project string, now time.Time) *account {
	b.sweep(now)
	a := b.accounts[project]
	if a == nil {
		if b.accounts == nil {
			b.accounts, b.session = make(map[string]*account), uuid.NewString()
		}
		a = new(account)
		b.accounts[project] = a
	}
	a.used = now
	return a
}

// sweep forgets idle projects and processes. mu is held.
func (b *Book) sweep(now time.Time) {
	if now.Sub(b.swept) < idle/10 {
		return
	}
	b.swept = now
	for project, a := range b.accounts {
		if now.Sub(a.used) > idle {
			delete(b.accounts, project)
			b.session = uuid.NewString() // the project may come again, and its count begin at 0
		}
	}
	maps.DeleteFunc(b.others, func(_ string, other *process) bool { return now.Sub(other.seen) > idle })
}

// balance is how much a project may send. It starts full.
type balance struct {
	left float64
	at   time.Time
}

// grow adds the quota of the time that has passed.
func (l *balance) grow(most int64, now time.Time) {
	full := burst * float64(most)
	if l.at.IsZero() {
		l.left = full
	} else if passed := now.Sub(l.at); passed > 0 {
		l.left += passed.Seconds() * float64(most)
	}
	l.left, l.at = min(l.left, full), now
}

// recentSeconds are those of which a rate is the mean.
const recentSeconds = 10

// recent counts by seconds: the present one, and those before.
type recent struct {
	last  int64 // second
	count [recentSeconds + 1]int64
}

func (r *recent) add(n int64, now time.Time) {
	r.to(now.Unix())
	r.count[r.last%int64(len(r.count))] += n
}

// to makes a second the last one.
func (r *recent) to(second int64) {
	if second-r.last > int64(len(r.count)) {
		r.last = second - int64(len(r.count))
	}
	for r.last < second {
		r.last++
		r.count[r.last%int64(len(r.count))] = 0
	}
}

// rate returns the mean of the last seconds, with the present one.
func (r *recent) rate(now time.Time) float64 {
	r.to(now.Unix())
	sum := int64(0)
	for _, n := range r.count {
		sum += n
	}
	return float64(sum) / recentSeconds
}
