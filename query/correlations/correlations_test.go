package correlations_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/correlate"
	"github.com/gnocco-db/gnocco/internal/budget"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/query"
	"github.com/gnocco-db/gnocco/query/correlations"
	"github.com/gnocco-db/gnocco/tests/fatal"
	"github.com/gnocco-db/gnocco/tests/testnode"
)

// store is a node with metrics of one archive policy.
type store struct {
	*testnode.Node
	t       *testing.T
	metrics []*model.Metric // ordered by ID
}

var first = carbonara.FromTime(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))

// newStore returns a store of series with a value each minute; NaN for none.
func newStore(t *testing.T, series ...[]float64) *store {
	t.Helper()
	s := &store{Node: testnode.Start(t, testnode.Options{FS: vfs.NewMem(), Sacks: 2, Workers: 1}), t: t}
	t.Cleanup(func() { s.Stop(context.Background()) })
	minute, hour := time.Minute, time.Hour
	policy, err := model.NewArchivePolicy("policy", 0,
		[]model.DefinitionInput{{Granularity: &minute}, {Granularity: &hour}}, []string{"mean", "count"})
	fatal.If(t, err)
	fatal.If(t, s.Index.CreateArchivePolicy(t.Context(), policy))
	var ids []uuid.UUID
	for i, values := range series {
		id := uuid.UUID{15: byte(i + 1)}
		fatal.If(t, s.Index.CreateMetric(t.Context(), &model.Metric{ID: id, ArchivePolicy: policy, Creator: "me"}))
		metric, err := s.Index.Metric(id)
		fatal.If(t, err)
		s.metrics, ids = append(s.metrics, metric), append(ids, id)
		m := &model.Measures{Metrics: []uuid.UUID{id}}
		for minute, v := range values {
			if !math.IsNaN(v) {
				m.Timestamps = append(m.Timestamps, first.Add(time.Duration(minute)*time.Minute))
				m.Values = append(m.Values, v)
			}
		}
		m.Offsets = []int{0, len(m.Values)}
		fatal.If(t, s.Post(m))
	}
	fatal.If(t, s.Metricd.Refresh(t.Context(), ids))
	return s
}

func (s *store) jobs(o correlations.Options) *correlations.Jobs {
	return correlations.New(&query.Reader{Archives: testnode.Archives{Metricd: s.Metricd}}, o)
}

// request asks for all pairs of all metrics.
func (s *store) request() *correlations.Request {
	return &correlations.Request{Metrics: s.metrics, Method: carbonara.Mean, Aggregation: "mean",
		Granularity: time.Minute, To: carbonara.MaxTimestamp, TypeOf: typeOf}
}

func typeOf(m *model.Metric) (model.SeriesType, model.TypeSource) { return model.TypeOf(m, nil) }

// finished starts a request and waits for its end.
func (s *store) finished(jobs *correlations.Jobs, q *correlations.Request) *correlations.Job {
	s.t.Helper()
	job, err := jobs.Start(s.t.Context(), q, "me")
	fatal.If(s.t, err)
	<-job.Done()
	if result := job.Result(); result.State != correlations.Done || result.Progress != 1 {
		s.t.Fatalf("the job is %s at %v: %s", result.State, result.Progress, result.Error)
	}
	return job
}

// waves are a sine, one that follows it two minutes later, the first one's opposite, and a constant.
func waves() [][]float64 {
	series := make([][]float64, 4)
	for i := range 60 {
		series[0] = append(series[0], math.Sin(float64(i)))
		series[1] = append(series[1], math.Sin(float64(i-2)))
		series[2] = append(series[2], 5-3*math.Sin(float64(i)))
		series[3] = append(series[3], 7)
	}
	return series
}

func (s *store) requirePairs(job *correlations.Job, want ...correlate.Pair) {
	s.t.Helper()
	got := job.Result().Pairs
	if !slices.EqualFunc(got, want, func(a, b correlate.Pair) bool {
		return a.I == b.I && a.J == b.J && a.Lag == b.Lag && a.Overlap == b.Overlap && math.Abs(a.R-b.R) < 1e-9
	}) {
		s.t.Errorf("pairs %v, want %v", got, want)
	}
}

func TestKnownSeries(t *testing.T) {
	s := newStore(t, waves()...)
	jobs := s.jobs(correlations.Options{})
	q := s.request()
	q.Selection.MinAbs = 0.9
	job := s.finished(jobs, q)
	s.requirePairs(job, correlate.Pair{I: 0, J: 2, R: -1, Overlap: 60})
	if constant := job.Result().Constant; !slices.Equal(constant, []int{3}) {
		t.Errorf("constant: %v, want the last", constant)
	}
	if job.Groups != 60 || job.Metric(2).ID != s.metrics[2].ID {
		t.Errorf("%d groups, the third column is of %s", job.Groups, job.Metric(2).ID)
	}

	q = s.request()
	q.Lag, q.Selection.MinAbs = 2, 0.9999
	job = s.finished(jobs, q)
	for _, p := range job.Result().Pairs {
		if p.I == 0 && p.J == 1 && (p.Lag != 2 || p.Overlap != 58 || math.Abs(p.R-1) > 1e-9) {
			t.Errorf("the sine and the later one: %+v, want lag 2", p)
		}
	}
	if n := len(job.Result().Pairs); n != 3 {
		t.Errorf("%d pairs with lags, want 3", n)
	}
	groups, _ := job.Redundant(0.99)
	if len(groups) != 1 || groups[0].Keep != 0 || len(groups[0].Others) != 2 {
		t.Fatalf("redundant: %+v, want the first for two others", groups)
	}
	if later := groups[0].Others[0]; later.Column != 1 || later.Lag != 2 {
		t.Errorf("the later one: %+v, want lag 2", later)
	}
}

// Ranks see what rises with another one, however it does.
func TestRanks(t *testing.T) {
	series := make([][]float64, 2)
	for i := range 20 {
		series[0], series[1] = append(series[0], float64(i)), append(series[1], math.Exp(float64(i)))
	}
	s := newStore(t, series...)
	for _, m := range s.metrics {
		m.Type = model.GaugeType // else values that only rise are a counter's
	}
	q := s.request()
	job := s.finished(s.jobs(correlations.Options{}), q)
	if pairs := job.Result().Pairs; len(pairs) != 1 || pairs[0].R > 0.9 {
		t.Errorf("Pearson: %v, want one of less than 0.9", pairs)
	}
	q = s.request()
	q.Ranks = true
	s.requirePairs(s.finished(s.jobs(correlations.Options{}), q), correlate.Pair{I: 0, J: 1, R: 1, Overlap: 20})
}

// Only groups that both metrics have count, and a pair that shares too few has no coefficient.
func TestGaps(t *testing.T) {
	nan := math.NaN()
	s := newStore(t, []float64{1, 2, nan, 4, 5, 9, nan, 3}, []float64{2, 4, 99, 8, nan, 18, 99, 6})
	jobs := s.jobs(correlations.Options{})
	q := s.request()
	s.requirePairs(s.finished(jobs, q), correlate.Pair{I: 0, J: 1, R: 1, Overlap: 5})
	q = s.request()
	q.Overlap, q.Selection.Top = 70, 1 // percent of 8 groups: 6
	s.requirePairs(s.finished(jobs, q))
	q = s.request()
	q.From, q.To = first.Add(time.Minute), first.Add(4*time.Minute)
	if job := s.finished(jobs, q); job.Groups != 3 || job.Result().Pairs[0].Overlap != 2 {
		t.Errorf("%d groups of minutes 1 to 3, pairs %v", job.Groups, job.Result().Pairs)
	}
}

// Metrics without common times are put side by side where every group from the first to the last would be too many.
func TestFarApart(t *testing.T) {
	far := make([]float64, 10_000)
	for i := range far {
		far[i] = math.NaN()
	}
	far[0], far[1], far[len(far)-1] = 1, 2, 3
	s := newStore(t, far, []float64{1, 2})
	jobs := s.jobs(correlations.Options{MaxValues: 100})
	if job := s.finished(jobs, s.request()); job.Groups != 3 {
		t.Errorf("%d groups, want the 3 that there are", job.Groups)
	}
	q := s.request()
	q.Lag = 1 // groups between them matter
	var tooMany *correlations.TooManyValuesError
	if _, err := jobs.Start(t.Context(), q, "me"); !errors.As(err, &tooMany) || !errors.Is(err, model.ErrInvalid) {
		t.Errorf("with a lag: %v, want too many values", err)
	}
}

func TestMaxValues(t *testing.T) {
	s := newStore(t, waves()...)
	f := func(most int, fits bool) {
		t.Helper()
		_, err := s.jobs(correlations.Options{MaxValues: most}).Start(t.Context(), s.request(), "me")
		var tooMany *correlations.TooManyValuesError
		if fits && err != nil || !fits && (!errors.As(err, &tooMany) || tooMany.Most != most) {
			t.Errorf("with %d values at most: %v", most, err)
		}
	}
	f(4*60, true)
	f(4*60-1, false)
}

func TestMaxPairs(t *testing.T) {
	s := newStore(t, waves()...)
	f := func(most, top, want int, truncated bool) {
		t.Helper()
		q := s.request()
		q.Selection.Top, q.Selection.MinAbs = top, 0.01
		job := s.finished(s.jobs(correlations.Options{MaxPairs: most}), q)
		result := job.Result()
		if len(result.Pairs) != want || result.Truncated != truncated {
			t.Errorf("%d pairs of %d at most, truncated: %v", len(result.Pairs), most, result.Truncated)
		}
		least := 0.01
		if truncated {
			least = result.Pairs[want-1].Strength()
		}
		if job.Least() != least {
			t.Errorf("%d pairs at most: pairs from %v on, want %v", most, job.Least(), least)
		}
	}
	f(10, 0, 3, false)
	f(1, 0, 1, true)
	f(2, 5, 2, true) // who asks for more does not get more
	f(10, 1, 1, true)
}

// A job is its owner's; the oldest finished ones go.
func TestKeptJobs(t *testing.T) {
	const unfinished = 4
	s := newStore(t, waves()[:2]...)
	jobs := s.jobs(correlations.Options{MaxJobs: 2})
	var all []*correlations.Job
	for range 2 + unfinished + 1 {
		all = append(all, s.finished(jobs, s.request()))
	}
	kept := jobs.Of("me")
	if len(kept) != len(all)-1 || kept[0] != all[len(all)-1] || kept[len(kept)-1] != all[1] {
		t.Errorf("%d jobs of %d, want all but the oldest, the newest first", len(kept), len(all))
	}
	find := func(id, owner string, want *correlations.Job) {
		t.Helper()
		job, err := jobs.Find(id, owner)
		if job != want || want == nil && !errors.Is(err, model.ErrNotFound) {
			t.Errorf("found %v of %s: %v", job, owner, err)
		}
	}
	find(all[0].ID.String(), "me", nil)
	find(all[1].ID.String(), "me", all[1])
	find(all[1].ID.String(), "you", nil)
	find("nonsense", "me", nil)
	if of := jobs.Of("you"); len(of) != 0 {
		t.Errorf("%d jobs of another owner", len(of))
	}
	jobs.Remove(all[1])
	find(all[1].ID.String(), "me", nil)
}

// blocking is an engine that ends with the job.
type blocking struct{ correlate.CPU }

func (blocking) Correlate(ctx context.Context, _ correlate.Source, _ correlate.Options, _ correlate.Selection,
	_ func(correlate.Pair) error) (correlate.Result, error) {
	<-ctx.Done()
	return correlate.Result{}, ctx.Err()
}

// A fifth unfinished job is refused, until one of the others ends.
func TestUnfinishedJobs(t *testing.T) {
	s := newStore(t, waves()[:2]...)
	jobs := s.jobs(correlations.Options{Engine: blocking{}})
	var all []*correlations.Job
	for range 4 {
		job, err := jobs.Start(t.Context(), s.request(), "me")
		fatal.If(t, err)
		all = append(all, job)
	}
	if _, err := jobs.Start(t.Context(), s.request(), "me"); !errors.Is(err, correlations.ErrBusy) {
		t.Errorf("the fifth job: %v, want %v", err, correlations.ErrBusy)
	}
	for _, job := range all {
		jobs.Remove(job)
		<-job.Done()
		if result := job.Result(); result.State != correlations.Failed || result.Error != "cancelled" {
			t.Errorf("a job that was removed is %s: %s", result.State, result.Error)
		}
	}
	job, err := jobs.Start(t.Context(), s.request(), "me")
	fatal.If(t, err)
	jobs.Remove(job)
	<-job.Done()
}

// A result holds memory until it is removed. A job that will fit at no time fails at once.
func TestMemory(t *testing.T) {
	s := newStore(t, waves()...)
	shared := budget.New(64<<20, nil)
	isFree := func() bool { // half of it is for answers
		account := shared.Account()
		defer account.Close()
		return account.Acquire(budget.Answers, 32<<20) == nil
	}
	jobs := s.jobs(correlations.Options{Budget: shared})
	job := s.finished(jobs, s.request())
	if isFree() {
		t.Error("a result holds no memory")
	}
	jobs.Remove(job)
	if !isFree() {
		t.Error("a job that was removed holds memory")
	}
	small := budget.New(1<<10, nil)
	_, err := s.jobs(correlations.Options{Budget: small}).Start(t.Context(), s.request(), "me")
	var tooLarge *budget.TooLargeError
	if !errors.As(err, &tooLarge) {
		t.Errorf("in a budget of 1 KiB: %v, want too large", err)
	}
}

func TestChooseGranularity(t *testing.T) {
	s := newStore(t, []float64{1}, []float64{1})
	f := func(asked, want time.Duration) {
		t.Helper()
		q := s.request()
		q.Granularity = asked
		if err := q.ChooseGranularity(); (err == nil) != (want > 0) || want > 0 && q.Granularity != want {
			t.Errorf("asked for %v: %v, %v", asked, q.Granularity, err)
		}
	}
	f(0, time.Minute)
	f(time.Hour, time.Hour)
	f(time.Second, 0)
	q := s.request()
	if q.Aggregation = "max"; q.ChooseGranularity() == nil {
		t.Error("a method that the policy lacks passed")
	}
}

func TestCosts(t *testing.T) {
	s := newStore(t, waves()[0], []float64{1})
	costs, err := s.jobs(correlations.Options{}).Costs(t.Context(), s.metrics, nil)
	fatal.If(t, err)
	if costs[0].MeasuresPerDay != 60*24 || costs[1].MeasuresPerDay != 24 {
		t.Errorf("measures a day: %v and %v, want 1440 and 24", costs[0].MeasuresPerDay, costs[1].MeasuresPerDay)
	}
	sum := costs[0]
	sum.Add(costs[1])
	if sum.MeasuresPerDay != 61*24 || sum.Bytes != costs[0].Bytes+costs[1].Bytes {
		t.Errorf("the sum of %+v is %+v", costs, sum)
	}
}

func TestValidate(t *testing.T) {
	o := correlations.Options{MaxMetrics: -1, MaxValues: -1, MaxPairs: -1, MaxJobs: -1, Wait: -1}
	err := o.Validate()
	for _, name := range []string{"MaxMetrics", "MaxValues", "MaxPairs", "MaxJobs", "Wait"} {
		if err == nil || !strings.Contains(err.Error(), name+" is negative") {
			t.Errorf("%s: no fault in %v", name, err)
		}
	}
	o = correlations.Options{}
	o.EnsureDefaults()
	fatal.If(t, o.Validate())
}
