package api

import (
	"context"
	"errors"
	"math"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/google/uuid"

	"gnocco/correlate"
	"gnocco/model"
)

// correlationJob is a request on its way, and then its result. Jobs live in the memory of this process only.
type correlationJob struct {
	*correlationRequest
	id       uuid.UUID
	owner    string
	groups   int          // rows of every column
	rowsDone atomic.Int64 // of groups, handed to the computation
	cancel   context.CancelFunc
	done     chan struct{} // closed at the end

	mu       sync.Mutex
	state    string
	fault    string           // why it failed
	pairs    []correlate.Pair // strongest first
	constant []int            // metrics without coefficients
	cut      bool             // there were more pairs than are kept
	weakest  float64          // least strength of a kept pair, if cut
}

// States of a job.
const (
	jobQueued  = "queued"
	jobRunning = "running"
	jobDone    = "done"
	jobFailed  = "failed"
)

// maxUnfinished jobs hold values in memory; one of them is computed at a time, on all cores.
const maxUnfinished = 4

// correlationJobs are those of this process.
type correlationJobs struct {
	turn chan struct{} // held by the job that is computed

	mu         sync.Mutex
	jobs       map[uuid.UUID]*correlationJob
	order      []uuid.UUID // oldest first
	unfinished int
}

func newCorrelationJobs() *correlationJobs {
	return &correlationJobs{turn: make(chan struct{}, 1), jobs: make(map[uuid.UUID]*correlationJob)}
}

// reserve makes room for one more job, which release or run gives back.
func (c *correlationJobs) reserve() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.unfinished >= maxUnfinished {
		return &Error{Status: http.StatusServiceUnavailable, Detail: "Too many correlations are under way. Please try again later."}
	}
	c.unfinished++
	return nil
}

func (c *correlationJobs) release() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.unfinished--
}

// start runs a job in the background, on values that become its own, and keeps it.
func (c *correlationJobs) start(job *correlationJob, values correlate.Values, o *CorrelationOptions) {
	// It outlives the request, and reads no store: the process may end at any time.
	ctx, cancel := context.WithCancel(context.Background())
	job.cancel = cancel
	c.mu.Lock()
	c.jobs[job.id] = job
	c.order = append(c.order, job.id)
	for len(c.order) > o.MaxJobs+maxUnfinished {
		oldest := slices.IndexFunc(c.order, func(id uuid.UUID) bool { return c.jobs[id].finished() })
		if oldest < 0 {
			break
		}
		delete(c.jobs, c.order[oldest])
		c.order = slices.Delete(c.order, oldest, oldest+1)
	}
	c.mu.Unlock()
	go func() {
		defer close(job.done)
		defer cancel()
		defer c.release()
		select {
		case c.turn <- struct{}{}:
			defer func() { <-c.turn }()
			job.compute(ctx, values, o)
		case <-ctx.Done():
			job.finish(ctx.Err())
		}
	}()
}

// find returns who's job.
func (c *correlationJobs) find(id, owner string) (*correlationJob, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if parsed, err := uuid.Parse(id); err == nil {
		if job := c.jobs[parsed]; job != nil && job.owner == owner {
			return job, nil
		}
	}
	return nil, notFound("Correlation %s does not exist", id)
}

// remove ends a job and forgets it.
func (c *correlationJobs) remove(job *correlationJob) {
	job.cancel()
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.jobs, job.id)
	c.order = slices.DeleteFunc(c.order, func(id uuid.UUID) bool { return id == job.id })
}

func (j *correlationJob) finished() bool {
	select {
	case <-j.done:
		return true
	default:
		return false
	}
}

// compute fills in the result.
func (j *correlationJob) compute(ctx context.Context, values correlate.Values, o *CorrelationOptions) {
	j.mu.Lock()
	j.state = jobRunning
	j.mu.Unlock()
	var pairs []correlate.Pair
	selection := j.selection
	if selection.Top == 0 || selection.Top > o.MaxPairs {
		selection.Top = o.MaxPairs
	}
	engine := o.Engine
	if j.ranks {
		engine = correlate.Spearman{}
	}
	options := correlate.Options{MaxLag: min(j.lag, max(0, j.groups-1)), MinOverlap: max(2, int(math.Ceil(j.overlap*float64(j.groups)/100)))}
	// Sums of pairs, with gaps and lags, beside the values.
	options.MemoryBytes = max(1<<30, int64(o.MaxValues)*32)
	result, err := engine.Correlate(ctx, counted{values, j}, options, selection, func(p correlate.Pair) error {
		pairs = append(pairs, p)
		return nil
	})
	kept := len(pairs)
	j.mu.Lock()
	j.pairs, j.constant = pairs, result.Constant
	if j.cut = j.selection.TopPerColumn == 0 && result.Eligible > int64(kept) || len(pairs) == o.MaxPairs; j.cut && kept > 0 {
		j.weakest = pairs[kept-1].Strength()
	}
	j.mu.Unlock()
	j.finish(err)
}

func (j *correlationJob) finish(err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.state = jobDone
	if err != nil {
		j.state, j.fault = jobFailed, err.Error()
		if errors.Is(err, context.Canceled) {
			j.fault = "cancelled"
		}
	}
}

// progress is from 0 to 1. Where rows are read several times, the last pass counts.
func (j *correlationJob) progress() float64 {
	if j.groups == 0 {
		return 1
	}
	return min(1, float64(j.rowsDone.Load())/float64(j.groups))
}

// counted counts the rows that are read from values.
type counted struct {
	correlate.Values
	job *correlationJob
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

// metric returns the metric of a column.
func (j *correlationJob) metric(column int) *model.Metric { return j.metrics[column] }
