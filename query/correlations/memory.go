package correlations

import (
	"math"
	"runtime"
	"slices"
	"sync/atomic"
	"unsafe"

	"github.com/gnocco-db/gnocco/correlate"
	"github.com/gnocco-db/gnocco/internal/budget"
	"github.com/gnocco-db/gnocco/internal/parallel"
)

// jobMemory is what a job holds of the memory that requests share. All of it is taken while the request waits: a job
// that has begun needs no more.
type jobMemory struct {
	account  *budget.Account
	sums     int64 // for the sums of pairs and the rows under way; 0: not bounded
	result   int64 // bytes of pairs, once finished
	finished bool  // sums are back; guarded by the mutex of Jobs
}

// newJobMemory returns the memory of a job that holds nothing yet.
func newJobMemory(shared *budget.Budget) *jobMemory {
	m := &jobMemory{account: shared.Account()}
	// An API that has given the index away forgets its jobs without an end of theirs.
	runtime.AddCleanup(m, (*budget.Account).Close, m.account)
	return m
}

// pairBytes is a pair with the coefficient of its changes.
const pairBytes = int64(unsafe.Sizeof(correlate.Pair{})) + 8

// pairsBytes is what pairs take while the strongest are looked for: twice as many as are kept, once for all goroutines
// and once by goroutine, and the result.
func (j *Job) pairsBytes(o *Options) int64 {
	columns := int64(len(j.Metrics))
	all := columns * (columns - 1) / 2
	kept := 5 * min(int64(j.selection(o).Top), all)
	if each := int64(j.Selection.TopPerColumn); each > 0 {
		kept += 3 * columns * min(each, columns-1)
	}
	return kept * pairBytes
}

// largest is what one job may take: answers have half of the budget.
func largest(b *budget.Budget) int64 { return b.Limit() / 2 }

// sumsBytes returns the least memory for sums and rows under way, and the most that is of use.
func (j *Job) sumsBytes(o *Options, gaps bool) (least, most int64) {
	options := j.correlateOptions(o)
	if j.Ranks {
		options.MaxLag = 0 // of ranks, lags take no sums
		_, least, _ = options.Memory(gaps)
		return least, least
	}
	least, _, most = options.Memory(gaps)
	return least, most
}

// valueBytes is what a value takes.
func (j *Job) valueBytes() int64 {
	if j.Ranks {
		return 8 + correlate.RankBytes
	}
	return 8
}

// mostValues returns how many values there is memory for: with more the job would find none at any time.
func (j *Job) mostValues(o *Options) int {
	if o.Budget == nil {
		return math.MaxInt
	}
	least, _ := j.sumsBytes(o, false)
	return int(max(0, (largest(o.Budget)-least-j.pairsBytes(o))/j.valueBytes()))
}

// tooLarge is the error of a job with so many values, for which there is no memory at any time.
func (j *Job) tooLarge(o *Options, values int64, gaps bool) error {
	least, _ := j.sumsBytes(o, gaps)
	return &budget.TooLargeError{Use: budget.Answers, Need: values*j.valueBytes() + least + j.pairsBytes(o),
		Most: largest(o.Budget)}
}

// chargeSums charges the memory of sums over the values; the memory of the values is charged already. It charges as
// much as is of use, but at most half of one job's share, unless the least is more.
func (m *jobMemory) chargeSums(j *Job, o *Options, columns correlate.Values) error {
	if o.Budget == nil {
		return nil
	}
	var found atomic.Bool
	_ = parallel.Each(parallel.Workers(len(columns)), len(columns), func(i int) error {
		if !found.Load() && slices.ContainsFunc(columns[i], func(v float64) bool { return v-v != 0 }) {
			found.Store(true)
		}
		return nil
	})
	gaps := found.Load()
	values := int64(len(j.Metrics)) * int64(j.Groups)
	beside := j.pairsBytes(o)
	if j.Ranks {
		beside += values * correlate.RankBytes
	}
	least, most := j.sumsBytes(o, gaps)
	left := largest(o.Budget) - beside - 8*values
	if left < least {
		return j.tooLarge(o, values, gaps)
	}
	m.sums = max(least, min(most, left, largest(o.Budget)/2))
	err := m.account.Acquire(budget.Answers, m.sums+beside)
	if j.Ranks {
		m.sums = max(m.sums, values*correlate.RankBytes)
	}
	return err
}

// keep gives back all but what a result takes.
func (m *jobMemory) keep(pairs int) {
	m.result, m.finished = int64(pairs)*pairBytes, true
	m.account.Keep(budget.Answers, m.result)
}
