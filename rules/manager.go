package rules

import (
	"cmp"
	"context"
	"encoding/json"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/prometheus/prometheus/promql/parser"
	"golang.org/x/sync/singleflight"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/ingest"
	"github.com/gnocco-db/gnocco/ingest/series"
	"github.com/gnocco-db/gnocco/internal/budget"
	"github.com/gnocco-db/gnocco/metricd/changes"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/query"
	"github.com/gnocco-db/gnocco/query/postings"
	"github.com/gnocco-db/gnocco/query/promql"
	"github.com/gnocco-db/gnocco/storage/index"
)

// Options of a Manager. It needs all of them.
type Options struct {
	Index    *index.Store
	Engine   *promql.Engine
	Archives query.Archives // a listener as well, which Run needs
	Writer   *series.Writer
	Budget   *budget.Budget
	Sacks    int
	// Rights returns which series an owner sees, and what measures of theirs may create.
	Rights func(owner json.RawMessage) (postings.Sees, ingest.Rights, error)
	Logger *slog.Logger
	Now    func() time.Time
}

// A listener asks a sack for its changes.
type listener interface {
	Changes(ctx context.Context, sack int, r changes.Request) (changes.Answer, error)
}

// A Manager keeps the recording rules of an open index, and evaluates them while Run runs.
type Manager struct {
	options Options

	mu     sync.Mutex // guards the fields below, and the rules; evaluations do not hold it
	groups map[string]*Group
	rules  []*Rule // of all groups, each after those that it reads
	byExpr map[string][]*Rule
	polled time.Time // zero: never
	loaded bool

	flights singleflight.Group // of queries
	shared  *sharedReads       // of evaluations

	seen       []uint64 // numbers of the last answers of the sacks; the fields from here on are of Run's goroutine
	lastChange uint64   // of labels; see storage/index.Store.ChangesSince
	silent     bool     // all sacks know that nobody listens
}

// Progress is how far a rule is, and what it has recorded. Its exported fields lie in the document of the group.
type Progress struct {
	Next    carbonara.Timestamp // the first cell that was never evaluated; 0: all
	Todo    spans               // other cells that are not recorded
	Began   carbonara.Timestamp // the history has no cells up to this one
	Failed  spans               // cells that could not be evaluated alone, and wait for retryFailed
	Coarse  spans               // cells that were not evaluated from measures alone
	Said    string              // by the last such evaluation
	Strays  spans               // where measures of another interval may lie between the cells
	History int64               // cells of the first history
	Series  map[uuid.UUID]bool  // metrics that hold results

	last, failedAt  time.Time // this process evaluated, and put the last cell into Failed; zero: never
	upToDate        time.Time // earlier cells were last done; zero: never
	took            time.Duration
	fault, failedBy string
	dueAfter        carbonara.Timestamp // the last cell before those that became due last
}

// keyChange is the key of a document with Manager.lastChange. The others are groups.
const keyChange = "change"

// New returns a manager.
func New(o Options) *Manager {
	shared := &sharedReads{Archives: o.Archives, memory: o.Budget.Account()}
	return &Manager{options: o, groups: map[string]*Group{}, seen: make([]uint64, o.Sacks), shared: shared}
}

// load reads the documents of the index, once. Those that do not decode are logged and left out. mu is held.
func (m *Manager) load(ctx context.Context) error {
	if m.loaded {
		return nil
	}
	err := m.options.Index.Recordings(ctx, func(key string, value json.RawMessage) {
		if key == keyChange {
			_ = json.Unmarshal(value, &m.lastChange) // 0: all labels may have changed
			return
		}
		g := new(Group)
		err := json.Unmarshal(value, g)
		for i := 0; i < len(g.Rules) && err == nil; i++ {
			err = g.Rules[i].prepare(g, m.options.Engine.Parser())
		}
		if err != nil {
			m.options.Logger.Error("a group of recording rules does not decode",
				"key", strings.ToValidUTF8(key, "?"), "error", err)
			return
		}
		m.groups[key] = g
	})
	var rules []*Rule
	if err == nil {
		rules, err = inOrder(m.groups)
	}
	m.loaded = err == nil
	m.setRules(rules)
	return err
}

// setRules sets the rules in their order. mu is held.
func (m *Manager) setRules(rules []*Rule) {
	m.rules, m.byExpr = rules, map[string][]*Rule{}
	engine, _ := m.options.Engine.Prometheus(&promql.Query{})
	for _, r := range rules {
		expr, err := engine.Parser.ParseExpr(r.Expr)
		for inner, ok := expr.(*parser.ParenExpr); ok; inner, ok = expr.(*parser.ParenExpr) {
			expr = inner.Expr
		}
		if err == nil && r.answers(expr) && !slices.ContainsFunc(r.inputs, func(in input) bool { return in.always }) {
			m.byExpr[normal(expr)] = append(m.byExpr[normal(expr)], r)
		}
	}
}

// Apply puts groups of a project in the place of those of their names; a group without rules removes one. All of them
// are applied, or with an error none.
func (m *Manager) Apply(ctx context.Context, groups []*Group) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.load(ctx); err != nil {
		return err
	}
	all, values := maps.Clone(m.groups), map[string]any{}
	for _, g := range groups {
		for _, r := range g.Rules {
			r.Progress = &Progress{Series: map[uuid.UUID]bool{}}
		}
		if earlier := all[g.key()]; earlier != nil {
			g.goOn(earlier)
		}
		all[g.key()], values[g.key()] = g, g
		if len(g.Rules) == 0 {
			delete(all, g.key())
			values[g.key()] = nil
		}
	}
	rules, err := inOrder(all)
	if err == nil {
		err = m.options.Index.PutRecording(ctx, values)
	}
	if err == nil {
		m.groups = all
		m.setRules(rules)
	}
	return err
}

// group returns a group of a project. mu is held.
func (m *Manager) group(ctx context.Context, project, name string) (*Group, error) {
	if err := m.load(ctx); err != nil {
		return nil, err
	}
	g := m.groups[(&Group{Project: project, Name: name}).key()]
	if g == nil {
		return nil, model.NotFound("Rule group", name)
	}
	return g, nil
}

// Pause lets the work of a group on earlier cells wait, or go on. Cells that are due are evaluated in any case.
func (m *Manager) Pause(ctx context.Context, project, name string, paused bool) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	g, err := m.group(ctx, project, name)
	if err == nil {
		g.Paused = paused
		err = m.options.Index.PutRecording(ctx, map[string]any{g.key(): g})
	}
	return err
}

// Delete removes a group of a project. Its series stay.
func (m *Manager) Delete(ctx context.Context, project, name string) error {
	m.mu.Lock()
	_, err := m.group(ctx, project, name)
	m.mu.Unlock()
	if err == nil {
		err = m.Apply(ctx, []*Group{{Project: project, Name: name}})
	}
	return err
}

// commit makes the progress of rules durable, and the last change.
func (m *Manager) commit(ctx context.Context, rules []*Rule, lastChange uint64) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	values := map[string]any{}
	if lastChange != m.lastChange {
		values[keyChange] = lastChange
	}
	for _, r := range rules {
		if key := r.group.key(); values[key] == nil && m.groups[key] == r.group { // else it was replaced meanwhile
			values[key] = r.group
		}
	}
	if len(values) == 0 {
		return nil
	}
	err := m.options.Index.PutRecording(ctx, values)
	if err == nil {
		m.lastChange = lastChange
	}
	return err
}

// A GroupStatus is a group as Prometheus' API shows it. Its file is its project.
type GroupStatus struct {
	Name     string       `json:"name"`
	Project  string       `json:"file"`
	Rules    []RuleStatus `json:"rules"`
	Paused   bool         `json:"paused"`
	Interval float64      `json:"interval"`
	Limit    int          `json:"limit"`
}

// A RuleStatus is a rule as Prometheus' API shows it, and its progress.
type RuleStatus struct {
	Name    string            `json:"name"`
	Query   string            `json:"query"`
	Labels  map[string]string `json:"labels"`
	Health  string            `json:"health"` // ok, err or unknown
	Fault   string            `json:"lastError,omitempty"`
	Took    float64           `json:"evaluationTime"`
	Last    time.Time         `json:"lastEvaluation"` // by this process; zero: none
	Type    string            `json:"type"`
	Todo    int64             `json:"cells_to_do"`
	History int64             `json:"cells_of_history"`
	Series  int               `json:"series"`
	Coarse  int64             `json:"cells_from_groups"`
	Said    string            `json:"said,omitempty"`
}

// Statuses returns the groups that sees lets through.
func (m *Manager) Statuses(ctx context.Context, sees func(*Group) bool) (all []GroupStatus, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.load(ctx); err != nil {
		return nil, err
	}
	for _, key := range slices.Sorted(maps.Keys(m.groups)) {
		g := m.groups[key]
		if !sees(g) {
			continue
		}
		status := GroupStatus{Name: g.Name, Project: g.Project, Paused: g.Paused, Interval: g.every().Seconds(),
			Limit: g.Limit}
		for _, r := range g.Rules {
			health, fault := "ok", cmp.Or(r.fault, r.failedBy)
			if fault != "" {
				health = "err"
			} else if r.last.IsZero() {
				health = "unknown"
			}
			status.Rules = append(status.Rules, RuleStatus{r.Record, r.Expr, r.Labels, health, fault,
				r.took.Seconds(), r.last, "recording", r.Todo.cells(g.every()) + r.Failed.cells(g.every()), r.History,
				len(r.Series), r.Coarse.cells(g.every()), r.Said})
		}
		all = append(all, status)
	}
	return all, nil
}
