package main

import (
	"context"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/cmd/gnocco-client/series"
	"github.com/gnocco-db/gnocco/cmd/shared/table"
)

// Coefficients from docs/benchmarks (TestSizeCoefficients), where each has date and commit: six methods at two
// granularities, two cores. tools/compare-fleet.sh measures them. A server at rest takes baseMemory.
const (
	baseMemory        = 34 << 20
	memoryPerMetric   = 2008 << 20 / 1e6 // most of a million metrics each 60 s, with heads and waiting measures
	cpuSmallRequests  = 1.63e-6          // seconds of CPU a measure, in requests of 1,000 metrics with a measure each
	cpuLargeRequests  = 0.71e-6          // of 10,000
	figuresOfFleet    = "gnocco-bench fleet, 2026-11-25, 56b7473, two cores"
	indexPerMetric    = 344 // a million series with their labels: docs/benchmarks/peers.csv, 2026-11-27
	splitKeyBytes     = 34
	reserveFile       = 16 << 20
	logsOfMeasures    = 96 << 20
	looseTablesOfSack = 32 << 20 // above a quarter of a sack's tables; see docs/reference/data-folder.md
	sacksOfSize       = 16
)

// maxSizeMeasures bounds the measures that are encoded to learn the bytes of an aggregate.
const maxSizeMeasures = 1 << 20

// valueMakers make the values of a metric by their kind.
var valueMakers = map[string]func(rng *rand.Rand, before float64) float64{
	"constant": func(_ *rand.Rand, before float64) float64 { return before },
	"counter":  func(rng *rand.Rand, before float64) float64 { return before + float64(rng.IntN(1000)) },
	"gauge": func(rng *rand.Rand, before float64) float64 { // a share in percent, of two decimals
		return math.Round(100*min(100, max(0, before+rng.NormFloat64()))) / 100
	},
	"random": func(rng *rand.Rand, _ float64) float64 { return rng.NormFloat64() },
}

func valueKinds() []string { return slices.Sorted(maps.Keys(valueMakers)) }

// measures returns n measures of a metric, the first one at the epoch of all splits.
func (p *sizePlan) measures(n int) (timestamps []carbonara.Timestamp, values []float64) {
	rng := rand.New(rand.NewPCG(1, 2))
	value := 50.
	for i := range n {
		value = valueMakers[p.values](rng, value)
		timestamps = append(timestamps, carbonara.Timestamp(i)*carbonara.Timestamp(p.interval))
		values = append(values, value)
	}
	return timestamps, values
}

// aggregateBytes encodes a split of one granularity, or as much of it as maxSizeMeasures fill.
func (p *sizePlan) aggregateBytes(granularity time.Duration, points int64) (float64, error) {
	if bytes := p.measured[granularity]; bytes > 0 {
		return bytes, nil
	}
	groups := int64(carbonara.GroupsPerSplit)
	if points > 0 {
		groups = min(groups, points)
	}
	span := time.Duration(groups) * granularity
	timestamps, values := p.measures(int(max(1, min(span/p.interval, max(maxSizeMeasures, granularity/p.interval)))))
	batch := carbonara.Batch{Timestamps: timestamps, Values: values, Series: []carbonara.Series{{
		Plan: carbonara.NewPlan([]time.Duration{granularity}, p.policy.Methods()), To: len(values)}}}
	var result carbonara.Result
	if err := carbonara.NewCPUResampler(1).Resample(context.Background(), &batch, &result); err != nil {
		return 0, err
	}
	got := result.Groups(0, 0)
	bytes := len(carbonara.AppendSplit(nil, carbonara.SplitKeyOf(0, granularity), got))
	perSplit := max(1, min(float64(groups), float64(span)/float64(p.interval)))
	return float64(bytes)/float64(got.Len()) + splitKeyBytes/perSplit, nil
}

// rawBytes returns the bytes of the raw measures of a metric at the end of a block.
func (p *sizePlan) rawBytes() float64 {
	blocks := float64(p.policy.BackWindowBlocks() + 1)
	n := blocks * float64(p.policy.Plan().Coarsest()) / float64(p.interval)
	timestamps, values := p.measures(int(max(1, min(n, maxSizeMeasures))))
	return n * float64(len(carbonara.AppendRaw(nil, 0, timestamps, values))) / float64(len(values))
}

// estimate returns what the plan takes, and the limits of that.
func (p *sizePlan) estimate() (*table.Table, []string, error) {
	t := &table.Table{Columns: []string{"item", "value", "unit", "from"}}
	add := func(item string, value float64, unit, from string) {
		digits := math.Pow(10, 2-math.Floor(math.Log10(max(value, 1e-9)))) // three are more than it is worth
		t.Add(item, math.Round(value*digits)/digits, unit, from)
	}
	metrics := float64(p.metrics)
	rate := metrics / p.interval.Seconds()
	add("ingest", rate, "measures/s", "metrics and interval")
	encoded := p.values + " values, encoded now"
	var archives float64
	var notes []string
	for _, d := range p.policy.Definition {
		bytes, err := p.aggregateBytes(d.Granularity, d.Points)
		if err != nil {
			return nil, nil, err
		}
		from := encoded
		if p.measured[d.Granularity] > 0 {
			from = "the server's metrics of this policy"
		}
		item, timespan := "disk, "+series.SpanText(d.Granularity)+" for ", d.Timespan
		if timespan == 0 {
			const year = 365 * 24 * time.Hour
			timespan = year
			item += "a year of no limit"
			notes = append(notes, "A granularity has no limit: its first year counts.")
		} else {
			item += series.SpanText(timespan)
		}
		// A split is removed as a whole, so half a split more than the timespan is kept on average.
		kept := float64(timespan+carbonara.GroupsPerSplit*d.Granularity/2) / float64(max(d.Granularity, p.interval))
		add(item, metrics*kept*bytes/1e6, "MB", from)
		archives += metrics * kept * bytes
	}
	raw := metrics * p.rawBytes()
	add("disk, raw measures", raw/1e6, "MB", encoded)
	archives += raw
	rest := archives + metrics*indexPerMetric + reserveFile
	add("disk, at rest", rest/1e6, "MB", "with the index and the reserve file")
	loose := max(archives/10, min(archives/4, sacksOfSize*looseTablesOfSack))
	add("disk, while it runs", (rest+loose+logsOfMeasures)/1e6, "MB", "at most; leave --min-free-bytes besides")
	add("memory", (baseMemory+metrics*memoryPerMetric)/1e6, "MB", figuresOfFleet)
	add("CPU, requests of 1,000 measures", rate*cpuSmallRequests, "cores", figuresOfFleet)
	add("CPU, requests of 10,000", rate*cpuLargeRequests, "cores", figuresOfFleet)
	return t, append(notes, fmt.Sprintf("Unknown: queries (memory and CPU), metrics that come and go (each keeps its "+
		"disk until it is deleted), other values than %s, other policies' CPU.", p.values)), nil
}
