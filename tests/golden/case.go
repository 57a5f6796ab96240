package golden

import (
	"time"

	"github.com/gnocco-db/gnocco/carbonara"
)

// A Vector is one series and its aggregates.
type Vector struct {
	Name, About   string
	Timestamps    []carbonara.Timestamp // ascending, distinct
	Values        []float64
	Granularities []Granularity
}

// A Scenario is a policy, what a metric with it was sent, and its aggregates after the last request.
type Scenario struct {
	Name, About   string
	Policy        Policy
	Requests      []Request // in the order in which they arrived; each is processed before the next
	Granularities []Granularity
}

// Policy is an archive policy, as plain values.
type Policy struct {
	BackWindow int // blocks, as the policy says it: without the block that rate: methods add
	Definition []Definition
	Methods    []carbonara.Method
}

// Definition is one item of a policy. Points is 0 for an unlimited timespan.
type Definition struct {
	Granularity time.Duration
	Points      int64
}

// Request is the measures of one request, in the order sent. Dropped tells how many of them the back window refuses.
type Request struct {
	Timestamps []carbonara.Timestamp
	Values     []float64
	Dropped    int
}

// Granularity is what is answered at one granularity: an aggregate per method.
type Granularity struct {
	Granularity time.Duration
	Aggregates  []Aggregate
}

// Aggregate is the answer of one method. Rule is 0, or the number of the rule in carbonara/doc.go by which Gnocchi's
// own answer is another one, which then is Gnocchi.
type Aggregate struct {
	Method carbonara.Method
	Answer
	Rule    int
	Gnocchi *Answer
}

// Answer is aggregates in order of time.
type Answer struct {
	Starts []carbonara.Timestamp
	Values []float64
}
