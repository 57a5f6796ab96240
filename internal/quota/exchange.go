package quota

import (
	"time"

	"github.com/gnocco-db/gnocco/model"
)

// Report is what projects sent to a process, since its start. It is sent again until it is answered, and counts once.
type Report struct {
	Session  string           `json:"session"`
	Projects map[string]Spent `json:"projects,omitempty"`
}

// Spent is what a project sent, by kind: since the process's start, and as of the last report that was answered.
type Spent struct {
	All   [kinds]int64 `json:"all"`
	Acked [kinds]int64 `json:"acked"`
}

// Answer is what the holder of the index answers.
type Answer struct {
	Default  model.Quota               `json:"default"`
	Own      map[string]model.Quota    `json:"own,omitempty"`
	Balances map[string][kinds]float64 `json:"balances,omitempty"` // of the projects in the report
}

// process is another one, at the holder of the index.
type process struct {
	seen  time.Time
	spent map[string][kinds]int64
}

// reportedFor is for how long a project is reported that sends no more: its balances here may be behind.
const reportedFor = 2 * burst * time.Second

// Report returns a report of this process.
func (b *Book) Report() *Report {
	if b == nil {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	r := &Report{Session: b.session, Projects: make(map[string]Spent)}
	now := b.now()
	for project, a := range b.accounts {
		if a.spent != a.acked || now.Sub(a.used) < reportedFor {
			r.Projects[project] = Spent{a.spent, a.acked}
		}
	}
	return r
}

// Add counts what another process reports, and answers it.
func (b *Book) Add(r *Report) *Answer {
	if b == nil || r == nil {
		return nil
	}
	answer := &Answer{Balances: make(map[string][kinds]float64)}
	if q := b.load(); q != nil {
		answer.Default, answer.Own = q.defaults, q.own
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	now := b.now()
	if b.others == nil {
		b.others = make(map[string]*process)
	}
	from := b.others[r.Session]
	if from == nil {
		from = &process{spent: make(map[string][kinds]int64)}
		b.others[r.Session] = from
	}
	from.seen = now
	for project, spent := range r.Projects {
		before := from.spent[project]
		from.spent[project] = spent.All
		a := b.account(project, now)
		var left [kinds]float64
		for kind := range kinds {
			n := spent.All[kind] - max(before[kind], spent.Acked[kind])
			a.recent[kind].add(n, now)
			if most := b.most(kind, project); most > 0 {
				a.balance[kind].grow(most, now)
				a.balance[kind].left -= float64(n)
				left[kind] = a.balance[kind].left
			}
		}
		answer.Balances[project] = left
	}
	return answer
}

// Counted says that this process holds the index: all that it accepted counts already.
func (b *Book) Counted() {
	if b == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, a := range b.accounts {
		a.acked = a.spent
	}
}

// Take takes the answer to a report.
func (b *Book) Take(r *Report, answer *Answer) {
	if b == nil || answer == nil {
		return
	}
	b.Set(answer.Default, answer.Own)
	b.mu.Lock()
	defer b.mu.Unlock()
	now := b.now()
	for project, left := range answer.Balances {
		a := b.accounts[project]
		if a == nil {
			continue
		}
		reported := r.Projects[project].All
		a.acked = reported
		for kind := range kinds {
			if b.most(kind, project) > 0 {
				a.balance[kind] = balance{left[kind] - float64(a.spent[kind]-reported[kind]), now}
			}
		}
	}
}
