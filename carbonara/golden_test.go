package carbonara_test

import (
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/tests/fatal"
	"github.com/gnocco-db/gnocco/tests/golden"
)

// Every vector alone, and all of them as the series of one batch.
func TestGoldenVectors(t *testing.T) {
	vectors := goldenVectors(t)
	all := &carbonara.Batch{}
	for _, v := range vectors {
		t.Run(v.Name, func(t *testing.T) {
			one := &carbonara.Batch{Timestamps: v.Timestamps, Values: v.Values}
			one.Series = append(one.Series, carbonara.Series{Plan: planOf(v.Granularities), To: len(v.Values)})
			result := resample(t, 1, one)
			for j, g := range v.Granularities {
				checkGolden(t, g, result.Groups(0, j), golden.Largest(v.Values))
			}
		})
		from := len(all.Values)
		all.Timestamps = append(all.Timestamps, v.Timestamps...)
		all.Values = append(all.Values, v.Values...)
		all.Series = append(all.Series, carbonara.Series{Plan: planOf(v.Granularities), From: from,
			To: len(all.Values)})
	}
	t.Run("together", func(t *testing.T) {
		result := resample(t, 2, all)
		for i, v := range vectors {
			for j, g := range v.Granularities {
				checkGolden(t, g, result.Groups(i, j), golden.Largest(v.Values))
			}
		}
	})
}

// The answers of a scenario follow from the rules alone: accept by rules 3 and 11, resample everything at once, expire
// by rule 12. Package metricd plays the same scenarios through the store.
func TestGoldenScenarios(t *testing.T) {
	scenarios, err := golden.Scenarios()
	fatal.If(t, err)
	for _, s := range scenarios {
		t.Run(s.Name, func(t *testing.T) {
			plan := planOf(s.Granularities)
			accepted := map[carbonara.Timestamp]float64{}
			for i, r := range s.Requests {
				oldest, dropped := carbonara.Timestamp(0), 0
				if len(accepted) > 0 {
					newest := slices.Max(slices.Collect(maps.Keys(accepted)))
					window := s.Policy.BackWindow
					if plan.HasRate() {
						window++
					}
					oldest = newest.Floor(plan.Coarsest()).Add(-time.Duration(window) * plan.Coarsest())
				}
				for k, at := range r.Timestamps {
					if at < oldest {
						dropped++
						continue
					}
					accepted[at] = r.Values[k]
				}
				if dropped != r.Dropped {
					t.Errorf("request %d: %d measures dropped, want %d", i, dropped, r.Dropped)
				}
			}
			batch := &carbonara.Batch{Timestamps: slices.Sorted(maps.Keys(accepted))}
			for _, at := range batch.Timestamps {
				batch.Values = append(batch.Values, accepted[at])
			}
			batch.Series = []carbonara.Series{{Plan: plan, To: len(batch.Values)}}
			result := resample(t, 1, batch)
			for j, g := range s.Granularities {
				groups := *result.Groups(0, j)
				for _, d := range s.Policy.Definition {
					if d.Granularity == g.Granularity && d.Points > 0 {
						expired := groups.Starts[groups.Len()-1].Add(-d.Granularity * time.Duration(d.Points))
						groups = groups.Slice(groups.Search(expired+1), groups.Len())
					}
				}
				checkGolden(t, g, &groups, golden.Largest(batch.Values))
			}
		})
	}
}

// The difference in rule 15 depends on when a request is accepted, which golden files do not say. Package metricd shows
// it in testdata/ahead.txt.
const ruleAhead = 15

// Every difference from Gnocchi names a rule, and doc.go says there how Gnocchi differs; and no rule claims a
// difference that no golden file shows, except ruleAhead.
func TestGoldenDifferences(t *testing.T) {
	doc, err := os.ReadFile("doc.go")
	fatal.If(t, err)
	stated := map[int]bool{}
	rules := regexp.MustCompile(`(?m)^// (\d+)\. `).FindAllSubmatchIndex(doc, -1)
	for i, at := range rules {
		end := len(doc)
		if i+1 < len(rules) {
			end = rules[i+1][0]
		}
		number, _ := strconv.Atoi(string(doc[at[2]:at[3]]))
		text := regexp.MustCompile(`\s*// |\s+`).ReplaceAllString(string(doc[at[0]:end]), " ")
		if regexp.MustCompile(`Gnocchi differs`).MatchString(text) {
			stated[number] = true
		}
	}
	shown := map[int]bool{ruleAhead: true}
	collect := func(name string, granularities []golden.Granularity) {
		for _, g := range granularities {
			for _, a := range g.Aggregates {
				if (a.Rule != 0) != (a.Gnocchi != nil) {
					t.Errorf("%s: %v at %v: rule %d, Gnocchi's answer %v", name, a.Method,
						g.Granularity, a.Rule, a.Gnocchi)
				}
				if a.Rule != 0 {
					shown[a.Rule] = true
				}
			}
		}
	}
	for _, v := range goldenVectors(t) {
		collect(v.Name, v.Granularities)
	}
	scenarios, err := golden.Scenarios()
	fatal.If(t, err)
	for _, s := range scenarios {
		collect(s.Name, s.Granularities)
	}
	if !maps.Equal(stated, shown) {
		t.Errorf("doc.go says that Gnocchi differs in rules %v, the golden files show %v",
			slices.Sorted(maps.Keys(stated)), slices.Sorted(maps.Keys(shown)))
	}
}

// checkGolden compares all aggregates of one granularity, and sees to it that a difference from Gnocchi is one.
func checkGolden(t *testing.T, want golden.Granularity, groups *carbonara.Groups, largest float64) {
	t.Helper()
	for _, a := range want.Aggregates {
		starts, values := groups.Aggregate(a.Method, nil, nil)
		got := golden.Answer{Starts: starts, Values: values}
		if err := golden.Compare(a.Method, a.Answer, got, largest); err != nil {
			t.Errorf("%v at %v: %v", a.Method, want.Granularity, err)
		}
		if a.Gnocchi != nil && golden.Compare(a.Method, *a.Gnocchi, got, largest) == nil {
			t.Errorf("%v at %v: Gnocchi's answer, but rule %d asks for another", a.Method, want.Granularity, a.Rule)
		}
	}
}

func goldenVectors(t *testing.T) []golden.Vector {
	t.Helper()
	vectors, err := golden.Vectors()
	fatal.If(t, err)
	return vectors
}

func planOf(granularities []golden.Granularity) *carbonara.Plan {
	var widths []time.Duration
	for _, g := range granularities {
		widths = append(widths, g.Granularity)
	}
	var methods []carbonara.Method
	for _, a := range granularities[0].Aggregates {
		methods = append(methods, a.Method)
	}
	return carbonara.NewPlan(widths, methods)
}
