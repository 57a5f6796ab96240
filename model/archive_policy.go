package model

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/gnocco-db/gnocco/carbonara"
)

// ArchivePolicy says which aggregates of a metric are computed and how long they are kept. NewArchivePolicy makes it;
// it is shared by its metrics and never modified.
type ArchivePolicy struct {
	Name       string
	BackWindow int          // older blocks (of the coarsest granularity) that still accept measures
	Definition []Definition // in the order given

	// SchemaPending says that archives of its metrics may still have the schema of an earlier version of the policy,
	// until they are rebuilt. Each archive tells its own schema.
	SchemaPending bool

	methods []carbonara.Method // resolved
	plan    *carbonara.Plan
}

// Definition is one item of an archive policy. Timespan = Granularity x Points; both 0 for unlimited.
type Definition struct {
	Granularity time.Duration
	Points      int64
	Timespan    time.Duration
}

// DefinitionInput is a definition as a client gives it, nil for an absent part. Two of the three determine the third; a
// granularity alone is kept without limit.
type DefinitionInput struct {
	Granularity *time.Duration
	Points      *int64
	Timespan    *time.Duration
}

// maxNameLength bounds, in characters, the names of archive policies, their rules and metrics.
const maxNameLength = 255

// defaultMethods are the aggregation methods of a policy that names none.
var defaultMethods = []carbonara.Method{
	carbonara.Mean, carbonara.Min, carbonara.Max, carbonara.Sum, carbonara.Std, carbonara.Count,
}

// NewArchivePolicy checks what a client sent and returns the policy. methods are names, "*" for all, "-name" and
// "+name" to take from and add to the rest; only such, or none, start from the default methods. Errors are *FieldError.
func NewArchivePolicy(name string, backWindow int, definition []DefinitionInput, methods []string) (
	*ArchivePolicy, error) {
	if err := checkName("name", name); err != nil {
		return nil, err
	}
	resolved, err := resolveMethods(methods)
	if err != nil {
		return nil, err
	}
	return newArchivePolicy(name, backWindow, definition, resolved)
}

func newArchivePolicy(name string, backWindow int, inputs []DefinitionInput, methods []carbonara.Method) (
	*ArchivePolicy, error) {
	if backWindow < 0 {
		return nil, &FieldError{"back_window", "back_window must be at least 0"}
	}
	if len(inputs) == 0 {
		return nil, &FieldError{"definition", "definition needs at least one item"}
	}
	p := &ArchivePolicy{Name: name, BackWindow: backWindow, methods: methods}
	var granularities []time.Duration
	for _, input := range inputs {
		d, err := input.resolve()
		if err != nil {
			return nil, err
		}
		if slices.Contains(granularities, d.Granularity) {
			return nil, &FieldError{"definition",
				fmt.Sprintf("More than one archive policy uses granularity `%s'", seconds(d.Granularity))}
		}
		granularities = append(granularities, d.Granularity)
		p.Definition = append(p.Definition, d)
	}
	p.plan = carbonara.NewPlan(granularities, methods)
	return p, nil
}

// resolve derives what is absent.
func (in DefinitionInput) resolve() (Definition, error) {
	fail := func(reason string) (Definition, error) { return Definition{}, &FieldError{"definition", reason} }
	switch {
	case in.Granularity != nil && *in.Granularity <= 0:
		return fail("Granularity should be > 0")
	case in.Points != nil && *in.Points <= 0:
		return fail("Number of points should be > 0")
	case in.Timespan != nil && *in.Timespan <= 0:
		return fail("Timespan should be > 0")
	}
	var d Definition
	switch {
	case in.Granularity == nil && (in.Points == nil || in.Timespan == nil):
		return fail("At least two of granularity/points/timespan must be provided")
	case in.Granularity == nil:
		// The remainder of the division is lost: the timespan is recomputed below.
		d.Granularity = *in.Timespan / time.Duration(*in.Points)
		d.Points = *in.Points
		if d.Granularity == 0 {
			return fail("Granularity should be > 0")
		}
	case in.Points == nil && in.Timespan == nil:
		return Definition{Granularity: *in.Granularity}, nil
	case in.Points == nil:
		d.Granularity = *in.Granularity
		d.Points = int64(*in.Timespan / d.Granularity)
		if d.Points == 0 {
			return fail("Calculated number of points is < 0")
		}
	default:
		d.Granularity, d.Points = *in.Granularity, *in.Points
	}
	if d.Points > math.MaxInt64/int64(d.Granularity) {
		return fail("granularity × points should be below 292 years")
	}
	d.Timespan = d.Granularity * time.Duration(d.Points)
	if in.Granularity != nil && in.Points != nil && in.Timespan != nil && *in.Timespan != d.Timespan {
		return fail("timespan ≠ granularity × points")
	}
	return d, nil
}

// maxThresholds bounds the aggregation methods with a threshold: each may be a column of every metric.
const maxThresholds = 32

// resolveMethods turns names, "*", "-name" and "+name" into a set of methods, in the order of carbonara.Methods, and
// then those with a threshold, in the order given.
func resolveMethods(names []string) ([]carbonara.Method, error) {
	var base, removed, added []carbonara.Method
	all, named := false, false
	for _, name := range names {
		list, rest := &base, name
		switch {
		case name == "*":
			all = true
			continue
		case strings.HasPrefix(name, "-"):
			list, rest = &removed, name[1:]
		case strings.HasPrefix(name, "+"):
			list, rest = &added, name[1:]
		default:
			named = true
		}
		m, err := carbonara.ParseMethod(rest)
		if err != nil {
			return nil, &FieldError{"aggregation_methods",
				fmt.Sprintf("Invalid value for aggregation_methods: %q", name)}
		}
		*list = append(*list, m)
	}
	switch {
	case all:
		base = slices.DeleteFunc(carbonara.Methods(), carbonara.Method.IsOurs)
	case !named:
		base = slices.Clone(defaultMethods)
	}
	base = slices.DeleteFunc(base, func(m carbonara.Method) bool { return slices.Contains(removed, m) })
	base = append(base, added...)
	if len(base) == 0 {
		return nil, &FieldError{"aggregation_methods", "no aggregation method is left"}
	}
	resolved := slices.DeleteFunc(carbonara.Methods(), func(m carbonara.Method) bool {
		return !slices.Contains(base, m)
	})
	listed := len(resolved)
	for _, m := range base {
		if m.HasThreshold() && !slices.Contains(resolved, m) {
			resolved = append(resolved, m)
		}
	}
	if len(resolved)-listed > maxThresholds {
		return nil, &FieldError{"aggregation_methods",
			fmt.Sprintf("an archive policy has at most %d aggregation methods with a threshold", maxThresholds)}
	}
	return resolved, nil
}

// Update returns p with another back window (nil: unchanged) and definition (nil: unchanged). Points and timespans may
// change, granularities may not: their aggregates could not be recomputed.
func (p *ArchivePolicy) Update(backWindow *int, definition []DefinitionInput) (*ArchivePolicy, error) {
	updated := *p
	if definition != nil {
		u, err := newArchivePolicy(p.Name, p.BackWindow, definition, p.methods)
		if err != nil {
			return nil, err
		}
		if reason := granularityChange(p, u); reason != "" {
			return nil, &FieldError{"definition",
				fmt.Sprintf("Archive policy %s does not support change: %s", p.Name, reason)}
		}
		updated = *u
		updated.SchemaPending = p.SchemaPending
	}
	if backWindow != nil {
		if *backWindow < 0 {
			return nil, &FieldError{"back_window", "back_window must be at least 0"}
		}
		updated.BackWindow = *backWindow
	}
	return &updated, nil
}

// Change returns p with another back window, definition and methods; nil leaves one as it is. Unlike Update, it may
// change granularities and methods: the archives of the policy's metrics then have to be rebuilt. Errors are
// *FieldError.
func (p *ArchivePolicy) Change(backWindow *int, definition []DefinitionInput, methods []string) (
	*ArchivePolicy, error) {
	resolved, err := p.methods, error(nil)
	if methods != nil {
		if resolved, err = resolveMethods(methods); err != nil {
			return nil, err
		}
	}
	if definition == nil {
		for _, d := range p.Definition {
			input := DefinitionInput{Granularity: &d.Granularity}
			if d.Points > 0 {
				input.Points = &d.Points
			}
			definition = append(definition, input)
		}
	}
	window := p.BackWindow
	if backWindow != nil {
		window = *backWindow
	}
	changed, err := newArchivePolicy(p.Name, window, definition, resolved)
	if err != nil {
		return nil, err
	}
	changed.SchemaPending = p.SchemaPending || !changed.plan.Equal(p.plan)
	return changed, nil
}

func granularityChange(from, to *ArchivePolicy) string {
	a, b := from.Granularities(), to.Granularities()
	if len(a) != len(b) {
		return "Cannot add or drop granularities"
	}
	for i := range a {
		if a[i] != b[i] {
			return seconds(a[i]) + " granularity interval was changed"
		}
	}
	return ""
}

// Methods returns the aggregation methods, those that carbonara.Methods lists in its order. The slice is p's own.
func (p *ArchivePolicy) Methods() []carbonara.Method { return p.methods }

// HasMethod reports whether p computes m.
func (p *ArchivePolicy) HasMethod(m carbonara.Method) bool { return slices.Contains(p.methods, m) }

// Answers reports whether aggregates of m can be read: p computes them, or sketches, which tell all percentiles.
func (p *ArchivePolicy) Answers(m carbonara.Method) bool {
	return m != carbonara.SketchMethod && p.HasMethod(m) || m.OfSketch() > 0 && p.plan.HasSketch()
}

// FromSketch reports whether aggregates of m are read from sketches: there is no column of them.
func (p *ArchivePolicy) FromSketch(m carbonara.Method) bool {
	percentile := m.OfSketch()
	return percentile > 0 && p.plan.HasSketch() &&
		!slices.Contains(p.plan.Columns, carbonara.PercentileColumn(percentile))
}

// Plan returns what to compute for p's metrics. It is p's own.
func (p *ArchivePolicy) Plan() *carbonara.Plan { return p.plan }

// Granularities returns p's granularities, ascending. The slice is p's own.
func (p *ArchivePolicy) Granularities() []time.Duration { return p.plan.Granularities }

// HasGranularity reports whether p has aggregates of this granularity.
func (p *ArchivePolicy) HasGranularity(granularity time.Duration) bool {
	_, ok := slices.BinarySearch(p.plan.Granularities, granularity)
	return ok
}

// Timespan returns how long aggregates of a granularity are kept; 0 if without limit, or if p does not have it.
func (p *ArchivePolicy) Timespan(granularity time.Duration) time.Duration {
	for _, d := range p.Definition {
		if d.Granularity == granularity {
			return d.Timespan
		}
	}
	return 0
}

// BackWindowBlocks returns how many blocks before the newest one processing keeps open. It is one more than the back
// window if a rate: method needs the measure before a block's first.
func (p *ArchivePolicy) BackWindowBlocks() int { return BackWindowBlocks(p.plan, p.BackWindow) }

// BackWindowBlocks is that of a policy with this plan and back window.
func BackWindowBlocks(plan *carbonara.Plan, backWindow int) int {
	if plan.HasRate() {
		return backWindow + 1
	}
	return backWindow
}

// MarshalJSON shows p as the REST API does: spans as "H:MM:SS" text, null for unlimited.
func (p *ArchivePolicy) MarshalJSON() ([]byte, error) {
	type item struct {
		Timespan    *string `json:"timespan"`
		Granularity string  `json:"granularity"`
		Points      *int64  `json:"points"`
	}
	out := struct {
		Name       string   `json:"name"`
		BackWindow int      `json:"back_window"`
		Definition []item   `json:"definition"`
		Methods    []string `json:"aggregation_methods"`
	}{Name: p.Name, BackWindow: p.BackWindow, Methods: p.MethodNames()}
	for _, d := range p.Definition {
		shown := item{Granularity: FormatTimespan(d.Granularity)}
		if d.Timespan > 0 {
			shown.Timespan, shown.Points = new(FormatTimespan(d.Timespan)), &d.Points
		}
		out.Definition = append(out.Definition, shown)
	}
	return json.Marshal(out)
}

// MethodNames returns the names of p's methods, in the order of Methods.
func (p *ArchivePolicy) MethodNames() []string {
	names := make([]string, 0, len(p.methods))
	for _, m := range p.methods {
		names = append(names, m.String())
	}
	return names
}

// DefaultArchivePolicies returns the policies that a new store starts with: bool, high, low and medium.
func DefaultArchivePolicies() []*ArchivePolicy {
	const day = 24 * time.Hour
	item, policy := definitionOf, defaultPolicy
	return []*ArchivePolicy{
		policy("bool", 3600, []string{"last"}, item(time.Second, 365*day)),
		policy("high", 0, nil, item(time.Second, time.Hour), item(time.Minute, 7*day), item(time.Hour, 365*day)),
		policy("low", 0, nil, item(5*time.Minute, 30*day)),
		policy("medium", 0, nil, item(time.Minute, 7*day), item(time.Hour, 365*day)),
	}
}

// SeriesArchivePolicy returns the archive policy of series that are pushed with labels, unless there is another one of
// its name. It keeps the measures themselves for two hours, then 10 s for a day, 1 min for a month, 1 h for two years.
func SeriesArchivePolicy() *ArchivePolicy {
	const day = 24 * time.Hour
	return defaultPolicy("prometheus", 2, []string{"mean", "min", "max", "sum", "count", "std", "first", "last",
		"95pct"},
		definitionOf(10*time.Second, day), definitionOf(time.Minute, 31*day), definitionOf(time.Hour, 730*day))
}

// CounterArchivePolicy returns the archive policy of pushed counters: the policy of other pushed series, with the
// methods of counters.
func CounterArchivePolicy(series *ArchivePolicy) *ArchivePolicy {
	p := *series
	p.Name += "-counter"
	p.SchemaPending = false
	methods, granularities := slices.Clone(p.methods), p.Granularities()
	for _, m := range []carbonara.Method{carbonara.Increase, carbonara.Resets} {
		if !slices.Contains(methods, m) {
			methods = append(methods, m)
		}
	}
	p.methods, p.plan = methods, carbonara.NewPlan(granularities, methods)
	return &p
}

func definitionOf(granularity, timespan time.Duration) DefinitionInput {
	return DefinitionInput{Granularity: &granularity, Timespan: &timespan}
}

func defaultPolicy(name string, backWindow int, methods []string, definition ...DefinitionInput) *ArchivePolicy {
	p, err := NewArchivePolicy(name, backWindow, definition, methods)
	if err != nil {
		panic(fmt.Sprintf("model: default archive policy %s: %v", name, err))
	}
	return p
}

// checkName refuses what no key can hold: NUL separates names in keys.
func checkName(field, name string) error {
	switch {
	case name == "":
		return &FieldError{field, field + " must not be empty"}
	case utf8.RuneCountInString(name) > maxNameLength:
		return &FieldError{field, fmt.Sprintf("%s must not be longer than %d characters", field, maxNameLength)}
	case strings.ContainsRune(name, 0):
		return &FieldError{field, field + " must not contain NUL"}
	}
	return nil
}

// seconds shows d as a count of seconds that is always a float: 60.0, 0.5.
func seconds(d time.Duration) string {
	s := strconv.FormatFloat(d.Seconds(), 'f', -1, 64)
	if !strings.Contains(s, ".") {
		s += ".0"
	}
	return s
}

// ArchivePolicyRule chooses the archive policy of metrics that are created without one, by their name.
type ArchivePolicyRule struct {
	Name              string `json:"name"`
	MetricPattern     string `json:"metric_pattern"` // of MatchPattern
	ArchivePolicyName string `json:"archive_policy_name"`
}

// Validate returns a *FieldError if r cannot be kept.
func (r *ArchivePolicyRule) Validate() error {
	if r.MetricPattern != "" { // the empty pattern matches metrics without a name
		if err := checkName("metric_pattern", r.MetricPattern); err != nil {
			return err
		}
	}
	if err := checkName("archive_policy_name", r.ArchivePolicyName); err != nil {
		return err
	}
	return checkName("name", r.Name)
}

// SortArchivePolicyRules orders rules as they are tried: by pattern descending, then by name. The more specific of two
// patterns with a common beginning comes first, since '*' sorts before letters.
func SortArchivePolicyRules(rules []*ArchivePolicyRule) {
	slices.SortFunc(rules, func(a, b *ArchivePolicyRule) int {
		return cmp.Or(strings.Compare(b.MetricPattern, a.MetricPattern), strings.Compare(a.Name, b.Name))
	})
}
