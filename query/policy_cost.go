package query

import (
	"context"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/model"
)

// PolicyCost says what an archive policy costs: figures of one metric, the means of those that were looked at.
type PolicyCost struct {
	Sampled        int     // metrics that were looked at
	Silent         int     // of these, those without measures in the last two splits of each granularity
	MeasuresPerDay float64 // as they came lately
	StoredBytes    float64 // of keys and values in the archives now, raw series included; heads not yet written are not
	RawBytes       float64 // of the raw series, by the end of a block
	Items          []PolicyCostItem
	// Assumed are methods with columns that no archive has: each is assumed to be as large as another.
	Assumed []carbonara.Method
}

// PolicyCostItem says what one granularity costs.
type PolicyCostItem struct {
	model.Definition
	AggregatesPerDay  float64
	BytesPerAggregate float64       // 0 if nothing could be measured
	StoredBytes       float64       // in the archives now
	MeasuredOn        time.Duration // the granularity whose aggregates were encoded; 0 for none
	Measured          int           // how many were
}

// Bytes returns those of all aggregates that are kept once the timespan is full, or false if it never is.
func (i *PolicyCostItem) Bytes() (float64, bool) {
	return days(i.Timespan) * i.BytesPerDay(), i.Timespan > 0
}

// BytesPerDay returns those of the aggregates that a day brings.
func (i *PolicyCostItem) BytesPerDay() float64 { return i.AggregatesPerDay * i.BytesPerAggregate }

func days(d time.Duration) float64 { return float64(d) / float64(24*time.Hour) }

// splitKeyBytes is what the key of a split takes.
const splitKeyBytes = 34

// costSplits is how many splits of each granularity are encoded, the newest of which may have just begun.
const costSplits = 2

// measured is what the newest splits of one granularity have come to, of all metrics.
type measured struct {
	perDay     float64 // aggregates, added up over metrics
	aggregates int
	bytes      int // as the columns that are wanted take, without keys
}

// CostOf returns what a policy costs, or would cost, judged by metrics that have this policy or another one. Their
// newest aggregates are read, and encoded as this policy would have it. A granularity that they do not have is judged
// by the next finer one, else by the next coarser one.
func CostOf(ctx context.Context, archives Archives, metrics []*model.Metric, policy *model.ArchivePolicy,
	now carbonara.Timestamp, staleness *Staleness) (*PolicyCost, error) {
	c := &costs{
		policy:        policy,
		byGranularity: make(map[time.Duration]*measured),
		stored:        make(map[time.Duration]int64),
		unknown:       make(map[carbonara.Column]bool),
	}
	ids := make([]uuid.UUID, len(metrics))
	var reads []model.Read
	for i, metric := range metrics {
		ids[i] = metric.ID
		reads = append(reads, readsForCost(metric, now)...)
	}
	sizes, err := archives.Sizes(ctx, ids, staleness)
	if err != nil {
		return nil, err
	}
	for i := range sizes {
		c.storedBytes += sizes[i].Total()
		for granularity, bytes := range sizes[i].Splits {
			c.stored[granularity] += bytes
		}
	}
	reader, err := archives.Prefetch(ctx, reads, staleness)
	if err != nil {
		return nil, err
	}
	var groups carbonara.Groups
	for i := range reads {
		if i == 0 || reads[i].Metric != reads[i-1].Metric {
			c.heard = false
		}
		if err := reader.Groups(ctx, reads[i], staleness, &groups); err != nil {
			return nil, err
		}
		if reads[i].Granularity == 0 {
			if c.raw += groups.Len(); groups.Len() > 0 {
				c.buffer = carbonara.AppendRaw(c.buffer[:0], groups.Starts[0], groups.Starts, groups.Values[0])
				c.rawBytes += len(c.buffer)
			}
		} else {
			c.add(&groups)
		}
	}
	return c.result(len(metrics)), nil
}

// readsForCost returns reads of the newest splits of each granularity, the finest first. The last one is of raw
// measures, of about the same time as the finest splits.
func readsForCost(metric *model.Metric, now carbonara.Timestamp) []model.Read {
	plan := metric.ArchivePolicy.Plan()
	sums := []carbonara.Column{carbonara.ColumnSum}
	var reads []model.Read
	for _, granularity := range plan.Granularities {
		from := carbonara.SplitKeyOf(now, granularity).Start
		for range costSplits - 1 {
			from = carbonara.SplitKeyOf(max(0, from-1), granularity).Start
		}
		reads = append(reads, model.Read{
			Metric: metric, Granularity: granularity, Columns: plan.Columns, From: from, To: carbonara.MaxTimestamp,
		})
	}
	return append(reads, model.Read{Metric: metric, Columns: sums, From: reads[0].From, To: carbonara.MaxTimestamp})
}

// costs adds up what metrics take.
type costs struct {
	policy        *model.ArchivePolicy
	byGranularity map[time.Duration]*measured
	stored        map[time.Duration]int64
	storedBytes   int64
	unknown       map[carbonara.Column]bool // columns that are wanted, and that metrics lack

	active         int // metrics with measures
	heard          bool
	measuresPerDay float64
	raw, rawBytes  int
	buffer         []byte
}

// add adds groups of one metric and granularity. The finest one that has any tells how many measures come.
func (c *costs) add(groups *carbonara.Groups) {
	n := groups.Len()
	if n == 0 {
		return
	}
	span := days(time.Duration(groups.Starts[n-1]-groups.Starts[0]) + groups.Granularity)
	if !c.heard {
		c.heard = true
		c.active++
		c.measuresPerDay += measuresIn(groups) / span
	}
	m := c.byGranularity[groups.Granularity]
	if m == nil {
		m = new(measured)
		c.byGranularity[groups.Granularity] = m
	}
	m.perDay += float64(n) / span
	m.aggregates += n
	m.bytes += c.encoded(groups)
}

// measuresIn counts the measures of groups.
func measuresIn(groups *carbonara.Groups) float64 {
	counts := groups.Column(carbonara.ColumnCount)
	if counts == nil { // a policy of rates only: a difference for each measure but the first
		counts = groups.Column(carbonara.ColumnCount.Rate())
	}
	sum := 0.
	for _, n := range counts {
		if n > 0 { // not absent
			sum += n
		}
	}
	return sum
}

// encoded returns the bytes of groups in splits that have the policy's columns. A column that the groups lack counts as
// the average of the others.
func (c *costs) encoded(groups *carbonara.Groups) int {
	wanted := carbonara.Groups{Granularity: groups.Granularity, Starts: groups.Starts}
	missing := 0
	for _, column := range c.policy.Plan().Columns {
		if values := groups.Column(column); values != nil {
			wanted.Columns, wanted.Values = append(wanted.Columns, column), append(wanted.Values, values)
		} else {
			missing++
			c.unknown[column] = true
		}
	}
	known := len(wanted.Columns)
	if known == 0 {
		wanted, known = *groups, len(groups.Columns)
		missing -= known // so many stand for others
	}
	bytes := 0
	for from := 0; from < wanted.Len(); {
		key := carbonara.SplitKeyOf(wanted.Starts[from], wanted.Granularity)
		to := wanted.Len()
		if end := key.End(); end < carbonara.MaxTimestamp {
			to = wanted.Search(end)
		}
		c.buffer = carbonara.AppendSplit(c.buffer[:0], key, new(wanted.Slice(from, to)))
		bytes += len(c.buffer)
		from = to
	}
	return bytes + bytes*missing/known
}

func (c *costs) result(sampled int) *PolicyCost {
	cost := &PolicyCost{Sampled: sampled, Silent: sampled - c.active}
	share := 1 / float64(max(1, sampled))
	cost.MeasuresPerDay = c.measuresPerDay * share
	cost.StoredBytes = float64(c.storedBytes) * share
	plan := c.policy.Plan()
	if c.raw > 0 {
		window := days(plan.Coarsest()) * float64(c.policy.BackWindowBlocks()+1)
		cost.RawBytes = cost.MeasuresPerDay * window * float64(c.rawBytes) / float64(c.raw)
	}
	for _, definition := range c.policy.Definition {
		cost.Items = append(cost.Items, c.item(definition, share))
	}
	for _, method := range c.policy.Methods() {
		if slices.ContainsFunc(method.Columns(), func(column carbonara.Column) bool { return c.unknown[column] }) {
			cost.Assumed = append(cost.Assumed, method)
		}
	}
	return cost
}

// item returns what a granularity costs. A metric that was looked at has this share in the means.
func (c *costs) item(definition model.Definition, share float64) PolicyCostItem {
	item := PolicyCostItem{Definition: definition, StoredBytes: float64(c.stored[definition.Granularity]) * share}
	granularity, m := c.nearest(definition.Granularity)
	if m == nil {
		return item
	}
	item.MeasuredOn, item.Measured = granularity, m.aggregates
	item.AggregatesPerDay = m.perDay
	if definition.Granularity < granularity {
		item.AggregatesPerDay = c.measuresPerDay
	}
	most := float64(c.active) / days(definition.Granularity) // one of each period
	item.AggregatesPerDay = min(item.AggregatesPerDay, most) * share
	active := share * float64(c.active)
	perSplit := item.AggregatesPerDay * days(definition.Granularity) * carbonara.GroupsPerSplit / active
	item.BytesPerAggregate = float64(m.bytes)/float64(m.aggregates) + splitKeyBytes/max(1, perSplit)
	return item
}

// nearest returns what was measured of a granularity, else of the next finer one, else of the next coarser one.
func (c *costs) nearest(granularity time.Duration) (time.Duration, *measured) {
	finer, coarser := time.Duration(0), time.Duration(0)
	for has := range c.byGranularity {
		if has <= granularity && has > finer {
			finer = has
		}
		if has > granularity && (coarser == 0 || has < coarser) {
			coarser = has
		}
	}
	if finer > 0 {
		return finer, c.byGranularity[finer]
	}
	return coarser, c.byGranularity[coarser]
}
