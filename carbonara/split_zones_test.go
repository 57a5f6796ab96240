package carbonara_test

import (
	"errors"
	"math"
	"testing"

	"gnocco/carbonara"
)

// Zones bound every aggregate of their groups, closely enough to skip most vectors of a slow gauge.
func TestSplitZones(t *testing.T) {
	methods, err := carbonara.ParseMethods([]string{"mean", "min", "max", "sum", "count", "std", "last", "95pct", "rate:mean", "rate:std", "rate:max"})
	if err != nil {
		t.Fatal(err)
	}
	for _, measures := range []int{1, 12} {
		for _, n := range []int{30, 700, 3600} {
			g := resampledGroups(measures, n, func(i int) float64 { return float64(i)/100 + float64(i%7)/10 })
			src := carbonara.AppendSplit(nil, testKey, g)
			for _, m := range methods {
				zones, err := carbonara.SplitZones(src, testKey, m, nil)
				if err != nil {
					t.Fatal(err)
				}
				starts, values := g.Aggregate(m, nil, nil)
				at := 0
				for _, z := range zones {
					for ; at < len(starts) && starts[at] < z.To; at++ {
						if starts[at] < z.From {
							t.Fatalf("%v: group %d lies in no zone", m, starts[at])
						}
						if v := values[at]; v == v && !(v >= z.Low && v <= z.High) {
							t.Fatalf("%v of %d measures, group %d: %v lies outside %v", m, measures, starts[at], v, z)
						}
					}
				}
				if at != len(starts) {
					t.Fatalf("%v: %d of %d groups lie in no zone", m, len(starts)-at, len(starts))
				}
				if m == carbonara.Mean && n == 3600 && !(zones[0].High < zones[2].Low && zones[0].High < values[1024]*1.1) {
					t.Errorf("zones of the mean are too wide: %v", zones)
				}
			}
		}
	}
}

func TestSplitZonesOfDamage(t *testing.T) {
	src := carbonara.AppendSplit(nil, testKey, resampledSplit(1, 12, 100))
	for i := range src {
		damaged := append([]byte(nil), src...)
		damaged[i] ^= 1
		if zones, err := carbonara.SplitZones(damaged, testKey, carbonara.Mean, nil); !errors.Is(err, carbonara.ErrCorrupt) || len(zones) > 0 {
			t.Fatalf("byte %d: %v, %v", i, zones, err)
		}
	}
	g := new(carbonara.Groups)
	g.Reset(testKey.Granularity, columnsOf7)
	if zones, err := carbonara.SplitZones(carbonara.AppendSplit(nil, testKey, g), testKey, carbonara.Max, nil); err != nil || len(zones) > 0 {
		t.Errorf("zones of nothing: %v, %v", zones, err)
	}
	zones, err := carbonara.SplitZones(src, testKey, carbonara.First, nil)
	if err != nil || len(zones) != 1 || math.IsInf(zones[0].High, 1) {
		t.Errorf("%v, %v", zones, err)
	}
}
