package correlations

import (
	"context"
	"errors"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/correlate"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/query"
)

// Job is a request on its way, and then its result. Jobs live in the memory of this process only.
type Job struct {
	*Request
	ID       uuid.UUID
	Started  time.Time
	owner    string
	Groups   int          // rows of every column
	Counters []bool       // by column: it has the increases of a counter
	rowsDone atomic.Int64 // of groups, handed to the computation
	cancel   context.CancelFunc
	done     chan struct{} // closed at the end
	memory   *jobMemory

	mu        sync.Mutex
	state     string
	err       string           // why it failed
	pairs     []correlate.Pair // strongest first
	changes   []float64        // by pair: the coefficient of changes; NaN for none
	constant  []int            // metrics without coefficients
	truncated bool             // there were more pairs than are kept
	weakest   float64          // least strength of a kept pair, if truncated
}

// States of a job.
const (
	Queued  = "queued"
	Running = "running"
	Done    = "done"
	Failed  = "failed"
)

// maxUnfinished jobs hold values in memory; one of them is computed at a time, on all cores.
const maxUnfinished = 4

// Jobs are the jobs of this process.
type Jobs struct {
	Options
	reader *query.Reader
	turn   chan struct{} // held by the job that is computed

	mu         sync.Mutex
	jobs       map[uuid.UUID]*Job
	order      []uuid.UUID // oldest first
	unfinished int
}

// New returns an empty list of jobs, which read their series from reader.
func New(reader *query.Reader, options Options) *Jobs {
	options.EnsureDefaults()
	return &Jobs{Options: options, reader: reader, turn: make(chan struct{}, 1), jobs: make(map[uuid.UUID]*Job)}
}

// reserve makes room for one more job, which release or run gives back.
func (c *Jobs) reserve() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.unfinished >= maxUnfinished {
		return ErrBusy
	}
	c.unfinished++
	return nil
}

func (c *Jobs) release() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.unfinished--
}

// Start reads the metrics' aggregates while the caller waits, and correlates them in the background. It waits for the
// memory that the job needs. It fails with ErrBusy, a *TooManyValuesError, budget.ErrExhausted, or the error of the
// read.
func (c *Jobs) Start(ctx context.Context, request *Request, owner string) (*Job, error) {
	if err := c.reserve(); err != nil {
		return nil, err
	}
	job := &Job{
		Request: request, ID: uuid.New(), owner: owner, done: make(chan struct{}),
		state: Queued, memory: newJobMemory(c.Budget),
	}
	values, err := c.readPatiently(ctx, job)
	if err != nil {
		job.memory.account.Close()
		c.release()
		return nil, err
	}
	c.start(job, values)
	return job, nil
}

// start runs a job in the background, on values that become its own, and keeps it.
func (c *Jobs) start(job *Job, values correlate.Values) {
	// It outlives the request, and reads no store: the process may end at any time.
	ctx, cancel := context.WithCancel(context.Background())
	job.cancel, job.Started = cancel, time.Now()
	c.mu.Lock()
	c.jobs[job.ID] = job
	c.order = append(c.order, job.ID)
	for len(c.order) > c.MaxJobs+maxUnfinished && c.forgetOldest(nil) {
	}
	c.mu.Unlock()
	go func() {
		defer close(job.done)
		defer c.boundResults(job)
		defer cancel()
		defer c.release()
		select {
		case c.turn <- struct{}{}:
			defer func() { <-c.turn }()
			job.compute(ctx, values, &c.Options)
		case <-ctx.Done():
			job.finish(ctx.Err())
		}
	}()
}

// forgetOldest forgets the finished job that is the oldest, but for one, and reports whether there was any. mu is held.
func (c *Jobs) forgetOldest(but *Job) bool {
	oldest := slices.IndexFunc(c.order, func(id uuid.UUID) bool { return c.jobs[id] != but && c.jobs[id].finished() })
	if oldest < 0 {
		return false
	}
	c.jobs[c.order[oldest]].memory.account.Close()
	delete(c.jobs, c.order[oldest])
	c.order = slices.Delete(c.order, oldest, oldest+1)
	return true
}

// boundResults gives back what a job needs no more, and forgets the oldest results where all take too much.
func (c *Jobs) boundResults(job *Job) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.jobs[job.ID] != job { // removed meanwhile
		job.memory.account.Close()
		return
	}
	job.memory.keep(cap(job.pairs))
	if c.Budget == nil {
		return
	}
	for {
		var kept int64
		for _, other := range c.jobs {
			kept += other.memory.result
		}
		if kept <= c.Budget.Limit()/8 || !c.forgetOldest(job) {
			return
		}
	}
}

// Find returns a job of an owner.
func (c *Jobs) Find(id, owner string) (*Job, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if parsed, err := uuid.Parse(id); err == nil {
		if job := c.jobs[parsed]; job != nil && job.owner == owner {
			return job, nil
		}
	}
	return nil, model.NotFound(model.NounCorrelation, id)
}

// Of returns the jobs of an owner, the newest first.
func (c *Jobs) Of(owner string) (jobs []*Job) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, id := range slices.Backward(c.order) {
		if job := c.jobs[id]; job.owner == owner {
			jobs = append(jobs, job)
		}
	}
	return jobs
}

// Remove ends a job and forgets it.
func (c *Jobs) Remove(job *Job) {
	job.cancel()
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.jobs, job.ID)
	c.order = slices.DeleteFunc(c.order, func(id uuid.UUID) bool { return id == job.ID })
	if job.memory.finished {
		job.memory.account.Close() // else it does so itself
	}
}

func (j *Job) finished() bool {
	select {
	case <-j.done:
		return true
	default:
		return false
	}
}

// Done returns a channel that is closed when the job ends.
func (j *Job) Done() <-chan struct{} { return j.done }

// compute fills in the result.
func (j *Job) compute(ctx context.Context, values correlate.Values, o *Options) {
	j.mu.Lock()
	j.state = Running
	j.mu.Unlock()
	var pairs []correlate.Pair
	selection := j.selection(o)
	engine := o.Engine
	if j.Ranks {
		engine = correlate.Spearman{}
	}
	options := j.correlateOptions(o)
	if j.memory.sums > 0 {
		options.MemoryBytes = j.memory.sums
	}
	result, err := engine.Correlate(ctx, counted{values, j}, options, selection, func(p correlate.Pair) error {
		pairs = append(pairs, p)
		return nil
	})
	kept := len(pairs)
	var changes []float64
	if err == nil {
		changes = coefficientsOfChanges(values, pairs)
	}
	j.mu.Lock()
	j.pairs, j.changes, j.constant = pairs, changes, result.Constant
	j.truncated = kept == o.MaxPairs || j.Selection.TopPerColumn == 0 && result.Eligible > int64(kept)
	if j.truncated && kept > 0 {
		j.weakest = pairs[kept-1].Strength()
	}
	j.mu.Unlock()
	j.finish(err)
}

// selection returns which pairs are kept.
func (j *Job) selection(o *Options) correlate.Selection {
	selection := j.Selection
	if selection.Top == 0 || selection.Top > o.MaxPairs {
		selection.Top = o.MaxPairs
	}
	return selection
}

// correlateOptions says what is computed, with sums of pairs, with gaps and lags, beside the values.
func (j *Job) correlateOptions(o *Options) correlate.Options {
	return correlate.Options{
		Columns:     len(j.Metrics),
		MaxLag:      min(j.Lag, max(0, j.Groups-1)),
		MinOverlap:  max(2, int(math.Ceil(j.Overlap*float64(j.Groups)/100))),
		MemoryBytes: max(1<<30, int64(o.MaxValues)*32),
	}
}

func (j *Job) finish(err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.state = Done
	if err != nil {
		j.state, j.err = Failed, err.Error()
		if errors.Is(err, context.Canceled) {
			j.err = "cancelled"
		}
	}
}

// progress is from 0 to 1. Where rows are read several times, the last pass counts.
func (j *Job) progress() float64 {
	if j.Groups == 0 {
		return 1
	}
	return min(1, float64(j.rowsDone.Load())/float64(j.Groups))
}

// counted counts the rows that are read from values.
type counted struct {
	correlate.Values
	job *Job
}

// Read implements correlate.Source.
func (c counted) Read(ctx context.Context, add func([][]float64) error) error {
	c.job.rowsDone.Store(0)
	return c.Values.Read(ctx, func(columns [][]float64) error {
		err := add(columns)
		c.job.rowsDone.Add(int64(len(columns[0])))
		return err
	})
}

// Metric returns the metric of a column.
func (j *Job) Metric(column int) *model.Metric { return j.Metrics[column] }

// Result is what a job has come to.
type Result struct {
	State     string
	Error     string           // why it failed
	Progress  float64          // from 0 to 1
	Pairs     []correlate.Pair // strongest first; of a job that is done
	Changes   []float64        // by pair: the coefficient of changes; NaN for none
	Constant  []int            // columns without coefficients
	Truncated bool             // there were more pairs than are kept
	weakest   float64
}

// Result returns what the job has come to so far. Once it is done nothing changes any more.
func (j *Job) Result() Result {
	j.mu.Lock()
	defer j.mu.Unlock()
	result := Result{State: j.state, Error: j.err, Progress: j.progress()}
	if j.state == Done {
		result.Pairs, result.Changes, result.Constant = j.pairs, j.changes, j.constant
		result.Truncated, result.weakest = j.truncated, j.weakest
	}
	return result
}

// Least returns the strength below which the result lacks pairs.
func (j *Job) Least() float64 { return max(j.Selection.MinAbs, j.Result().weakest) }
